// `containerd://2.1.4`: name and version of the runtime as upstream shows them, without the v and without a distribution's
// additions that are no semantic version.

const semantic = /^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$/
const generic = /^v?(\d+(?:\.\d+)+)/

export function formatRuntimeVersion(
  runtime: { readonly name: string; readonly version: string } | undefined,
): string {
  if (runtime === undefined) return 'remote://Unknown'
  const version = semantic.exec(runtime.version)?.[1] ?? generic.exec(runtime.version)?.[1] ?? 'Unknown'
  return `${runtime.name}://${version}`
}
