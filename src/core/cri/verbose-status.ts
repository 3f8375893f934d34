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

/** Names of images that sandboxes are made from: `sandboxImage` of containerd 1, `pinnedImages.sandbox` of its configuration 2. */
export function sandboxImages(config: string | undefined): readonly string[] {
  if (config === undefined) return []
  try {
    const parsed: unknown = JSON.parse(config)
    const pinned = valueAt(parsed, 'pinnedImages')
    return [valueAt(parsed, 'sandboxImage'), valueAt(pinned, 'sandbox')].filter(
      (name) => typeof name === 'string',
    )
  } catch {
    return []
  }
}

const valueAt = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined
