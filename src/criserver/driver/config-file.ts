// What a runtime's configuration file says about its handlers and their cgroup driver: containerd's format versions 2
// and 3, and CRI-O's. Works on parsed TOML; reading files is find.ts.
import { type HandlerSetting, parseHandlerSettings } from '../../core/driver/evidence.js'

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (v: unknown): Fields | undefined =>
  typeof v === 'object' && v !== null && !Array.isArray(v) ? (v as Fields) : undefined

/** Where the CRI plugin's settings are, by format version. */
const criPlugin: Readonly<Record<number, string>> = {
  2: 'io.containerd.grpc.v1.cri',
  3: 'io.containerd.cri.v1.runtime',
}

interface ContainerdFile {
  /** Undefined: the file does not speak of handlers. */
  readonly handlers: readonly HandlerSetting[] | undefined
  /** Other files that belong to it; a last part may hold `*`. */
  readonly imports: readonly string[]
}

/** A string says why the file cannot be used. */
export function readContainerdFile(parsed: unknown): ContainerdFile | string {
  const file = fieldsOf(parsed)
  const version = Number(file?.version ?? 1)
  const plugin = criPlugin[version]
  if (plugin === undefined) return `format version ${version} is not supported (2 and 3 are)`
  const containerd = fieldsOf(fieldsOf(fieldsOf(file?.plugins)?.[plugin])?.containerd)
  const imports = Array.isArray(file?.imports) ? file.imports.filter((i) => typeof i === 'string') : []
  if (fieldsOf(containerd?.runtimes) === undefined) return { handlers: undefined, imports }
  const text = JSON.stringify({ containerd }, (_k, v: unknown) => (typeof v === 'bigint' ? String(v) : v))
  return { handlers: parseHandlerSettings(text), imports }
}

/** containerd's own setting where no file names a handler. */
export const containerdDefault: readonly HandlerSetting[] = [
  { name: 'runc', isDefault: true, driver: 'cgroupfs' },
]

/** Later files win, setting by setting. CRI-O's own default is systemd. */
export function readCrioFiles(parsed: readonly unknown[]): readonly HandlerSetting[] | string {
  let manager: unknown = 'systemd'
  for (const file of parsed) {
    const runtime = fieldsOf(fieldsOf(fieldsOf(file)?.crio)?.runtime)
    manager = runtime?.cgroup_manager ?? manager
  }
  if (manager !== 'systemd' && manager !== 'cgroupfs') return `cgroup_manager is ${JSON.stringify(manager)}`
  return [{ name: 'cgroup_manager', isDefault: true, driver: manager }]
}
