export declare function buildDashboard(directory: string): Promise<void>
