// runAsNonRoot, checked before the container runs.

interface NonRootInput {
  readonly runAsUser: number | undefined
  /** Of the image; -1n: none given. */
  readonly imageUid: bigint | undefined
  readonly imageUser: string
}

/** `runAsNonRoot: true` is a promise that must be checked before the container runs. Undefined: it holds. */
export function rootProblem({ runAsUser, imageUid, imageUser }: NonRootInput): string | undefined {
  if (runAsUser !== undefined)
    return runAsUser === 0 ? "container's runAsUser breaks non-root policy" : undefined
  if (imageUser !== '')
    return `container has runAsNonRoot and image has non-numeric user (${imageUser}), cannot verify user is non-root`
  return imageUid === undefined || imageUid === 0n
    ? 'container has runAsNonRoot and image will run as root'
    : undefined
}
