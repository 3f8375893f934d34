// Block devices as labels: the name once found is kept, and so are the label objects of each device.
import { type ExtraLabels, extraLabels } from '../catalogue/family.js'

export interface Device {
  readonly labels: ExtraLabels
  /** Labels of container_blkio_device_usage_total. */
  operation(word: string): ExtraLabels
}

/** A device without a name keeps its numbers as `device`. */
export function createDevice(majorMinor: string, name: string): Device {
  const [major = '', minor = ''] = majorMinor.split(':')
  const operations = new Map<string, ExtraLabels>()
  return {
    labels: extraLabels({ device: name }),
    operation(word) {
      const known = operations.get(word)
      if (known !== undefined) return known
      const labels = extraLabels({ device: name, major, minor, operation: word })
      operations.set(word, labels)
      return labels
    },
  }
}

/** Numbers are given to other devices over time, so the table starts anew at this size. */
const MAX_KEPT = 4_096

/** `resolve` finds the name of a device, with its `/dev/`; undefined: it has none (yet). */
export function createDevices(
  resolve: (majorMinor: string) => string | undefined,
): (majorMinor: string) => Device {
  const kept = new Map<string, Device>()
  return (majorMinor) => {
    const known = kept.get(majorMinor)
    if (known !== undefined) return known
    const name = resolve(majorMinor)
    const device = createDevice(majorMinor, name ?? majorMinor)
    if (kept.size >= MAX_KEPT) kept.clear()
    if (name !== undefined) kept.set(majorMinor, device)
    return device
  }
}
