// With --rootfs a command works on another system: what it says names the paths as they are here. Commands themselves know
// them as that system sees them, and so does -o json.
import { resolve } from 'node:path'
import { isKeelsonError, keelsonError } from '../../core/errors.js'
import type { Place } from './wire.js'

/** Not inside a URL or another path. */
const nodePath =
  /(?<![\w./-])\/(?:var\/lib\/(?:kubelet|keelson)|etc\/(?:kubernetes|systemd\/system|crictl\.yaml|default))(?![\w.-])/g

/** Texts of files are shown indented by four blanks, and stay as they are. */
export function rootedText(text: string, { rootfs }: Place): string {
  if (rootfs === undefined || resolve(rootfs) === '/') return text
  const root = resolve(rootfs)
  return text
    .split('\n')
    .map((line) => (line.startsWith('    ') ? line : line.replace(nodePath, (path) => `${root}${path}`)))
    .join('\n')
}

/** The same for an error's message. */
export async function withRootedErrors(place: Place, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    const message = rootedText(e.message, place)
    throw message === e.message ? e : keelsonError(e.code, message, e.details, e)
  }
}
