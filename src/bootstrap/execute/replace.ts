// One file replaced so that a reader sees the old or the new bytes and nothing between.
import type { NodeFiles } from '../../ports/bootstrap.js'
import { fileMode } from '../paths.js'
import type { FileChange } from './journal.js'

export const isSameBytes = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.length === b.length && a.every((v, i) => v === b[i])

export const stagedPath = (real: string): string => {
  const at = real.lastIndexOf('/')
  return `${real.slice(0, at)}/.${real.slice(at + 1)}.keelson-new`
}

/** A link is followed first: the file behind it changes and the link stays. */
export const realPath = async (files: NodeFiles, path: string): Promise<string> =>
  (await files.resolve(path)) ?? path

/** Puts the bytes beside the file; what can fail for want of space or rights fails here. */
export async function stage(files: NodeFiles, path: string, bytes: Uint8Array | undefined): Promise<void> {
  if (bytes !== undefined) await files.write(stagedPath(await realPath(files, path)), bytes, fileMode)
}

export async function commitStaged(
  files: NodeFiles,
  path: string,
  bytes: Uint8Array | undefined,
): Promise<void> {
  const real = await realPath(files, path)
  if (bytes === undefined) await files.remove(real)
  else await files.rename(stagedPath(real), real)
}

export async function dropStaged(files: NodeFiles, changes: readonly FileChange[]): Promise<void> {
  for (const { path } of changes) await files.remove(stagedPath(await realPath(files, path)))
}

export async function replaceNow(
  files: NodeFiles,
  path: string,
  bytes: Uint8Array | undefined,
): Promise<void> {
  await stage(files, path, bytes)
  await commitStaged(files, path, bytes)
}
