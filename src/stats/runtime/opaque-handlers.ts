// Runtime handlers whose containers the host's cgroups say nothing true about: virtual machines and user-space kernels.
// containerd describes its handlers in the verbose status; of handlers that nobody describes, cgroups are read.

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (v: unknown): Fields | undefined =>
  typeof v === 'object' && v !== null && !Array.isArray(v) ? (v as Fields) : undefined

/** Shims that run containers as ordinary processes. */
const ordinary = /^io\.containerd\.(runc|runtime)\./

/** `info.config` of Status -> names of handlers; the default handler also goes by the empty name. */
export function opaqueHandlers(configJson: string | undefined): ReadonlySet<string> {
  let parsed: unknown
  try {
    parsed = JSON.parse(configJson ?? '{}')
  } catch {
    return new Set()
  }
  const containerd = fieldsOf(fieldsOf(parsed)?.containerd)
  const names = Object.entries(fieldsOf(containerd?.runtimes) ?? {})
    .filter(([, runtime]) => {
      const type = fieldsOf(runtime)?.runtimeType ?? fieldsOf(runtime)?.runtime_type
      return typeof type === 'string' && type !== '' && !ordinary.test(type)
    })
    .map(([name]) => name)
  const standard = containerd?.defaultRuntimeName ?? containerd?.default_runtime_name
  return new Set(names.some((name) => name === standard) ? [...names, ''] : names)
}
