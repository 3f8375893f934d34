// Names of files that are being written. A dot first: other programs that read the directory leave them alone too.

const RANDOM_DIGITS = 12

export const temporaryName = (name: string, random: string): string => `.${name}.${random}.tmp`

/** Not a file yet: listings leave it out. */
export const isTemporaryName = (name: string): boolean =>
  new RegExp(`^\\..+\\.[0-9a-f]{${RANDOM_DIGITS}}\\.tmp$`).test(name)
