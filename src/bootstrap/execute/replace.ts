// One file or link replaced so that a reader sees the old or the new one and nothing between.
import type { NodeFiles } from '../../ports/bootstrap.js'
import { directoryMode, fileMode } from '../paths.js'
import { decodeText, encodeText } from '../yaml-text.js'
import type { FileChange } from './journal.js'

/** The bytes of a link are the text of where it leads. */
type Replaced = Pick<FileChange, 'path' | 'link' | 'mode' | 'owner'>

export const isSameBytes = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.length === b.length && a.every((v, i) => v === b[i])

export async function readNow(files: NodeFiles, { path, link }: Replaced): Promise<Uint8Array | undefined> {
  if (link !== true) return files.read(path)
  const target = await files.readLink(path)
  return target === undefined ? undefined : encodeText(target)
}

const stagedPath = (real: string): string => {
  const at = real.lastIndexOf('/')
  return `${real.slice(0, at)}/.${real.slice(at + 1)}.keelson-new`
}

/** A link on the way to a file is followed first: the file behind it changes and the link stays. */
const realPath = async (files: NodeFiles, { path, link }: Replaced): Promise<string> =>
  link === true ? path : ((await files.resolve(path)) ?? path)

/** Puts the bytes beside the file; what can fail for want of space or rights fails here. */
export async function stage(files: NodeFiles, what: Replaced, bytes: Uint8Array | undefined): Promise<void> {
  if (bytes === undefined) return
  const staged = stagedPath(await realPath(files, what))
  if (what.link === true) await files.writeLink(staged, decodeText(bytes, what.path))
  else await files.write(staged, bytes, what.mode ?? fileMode, what.owner)
}

export async function commitStaged(
  files: NodeFiles,
  what: Replaced,
  bytes: Uint8Array | undefined,
): Promise<void> {
  const real = await realPath(files, what)
  if (bytes === undefined) await files.remove(real)
  else await files.rename(stagedPath(real), real)
}

export async function dropStaged(files: NodeFiles, changes: readonly Replaced[]): Promise<void> {
  for (const what of changes) await files.remove(stagedPath(await realPath(files, what)))
}

/** Directories of the system are everybody's to read; those of the kubelet are not. Returns those that were made. */
export function makeWayTo(files: NodeFiles, path: string): Promise<readonly string[]> {
  const directory = path.slice(0, path.lastIndexOf('/'))
  return files.makeDirectory(directory, directory.startsWith('/etc/systemd') ? 0o755 : directoryMode)
}

export async function replaceNow(
  files: NodeFiles,
  what: Replaced,
  bytes: Uint8Array | undefined,
): Promise<void> {
  if (bytes !== undefined) await makeWayTo(files, what.path)
  await stage(files, what, bytes)
  await commitStaged(files, what, bytes)
}
