// Kernel text as words and lines, for files that are short or read rarely.

const decoder = new TextDecoder('utf-8')

export const decodeText = (text: Uint8Array): string => decoder.decode(text)

export const splitLines = (text: string): string[] => text.split('\n').filter((line) => line !== '')

/** `cpu io memory\n` -> ['cpu', 'io', 'memory'], as in cgroup.controllers. */
export const parseWords = (text: Uint8Array): string[] =>
  decodeText(text)
    .split(/\s+/)
    .filter((word) => word !== '')

/** One process id a line, as in cgroup.procs. Lines that are no number are dropped. */
export const parsePids = (text: Uint8Array): number[] =>
  parseWords(text)
    .map(Number)
    .filter((pid) => Number.isSafeInteger(pid))
