import type { BuildResult } from 'esbuild'
export declare function buildDashboard(directory: string): Promise<BuildResult<{ metafile: true }>>
