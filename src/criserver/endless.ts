// Streams that last as long as their reader likes: their length says nothing about latency, and nobody waits for their end.

export const isEndless = (path: string): boolean => path.endsWith('/GetContainerEvents')
