// What runtimes report beyond CRI's fields in a verbose status: JSON under the key `info`.

/** containerd and CRI-O both put `pid` there, for sandboxes and containers. Undefined: not told, or no process. */
export function parsePid(info: string | undefined): number | undefined {
  if (info === undefined) return undefined
  try {
    const parsed: unknown = JSON.parse(info)
    const pid = typeof parsed === 'object' && parsed !== null && 'pid' in parsed ? parsed.pid : undefined
    return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}
