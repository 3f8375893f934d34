// status.declaredFeatures of the Node: the scheduler and the API server send what needs one of these only to nodes that
// declare it. A name is added here by the change that implements it, never before.

export const declaredFeatures: readonly string[] = []
