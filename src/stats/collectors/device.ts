// Block devices as labels: names and label objects are cached.
import type { Procfs } from '../../ports/procfs.js'
import { type ExtraLabels, extraLabels } from '../catalogue/family.js'

export interface Device {
  readonly labels: ExtraLabels
  /** Labels of container_blkio_device_usage_total. */
  operation(word: string): ExtraLabels
}

/** A device without a name keeps its numbers as `device`. */
function createDevice(majorMinor: string, name: string): Device {
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

/** Numbers are reused for other devices over time, so the cache is cleared at this size. */
const MAX_CACHED = 4_096

/** `8:0` -> `/dev/sda`. Undefined: the device has no name (yet). */
export const createDeviceNames =
  (procfs: Pick<Procfs, 'deviceName'>) =>
  (majorMinor: string): string | undefined => {
    const name = procfs.deviceName(majorMinor)
    return name === undefined ? undefined : `/dev/${name}`
  }

/** `resolve` finds the name of a device, with its `/dev/`; undefined: it has none (yet). */
export function createDevices(
  resolve: (majorMinor: string) => string | undefined,
): (majorMinor: string) => Device {
  const cached = new Map<string, Device>()
  return (majorMinor) => {
    const known = cached.get(majorMinor)
    if (known !== undefined) return known
    const name = resolve(majorMinor)
    const device = createDevice(majorMinor, name ?? majorMinor)
    if (cached.size >= MAX_CACHED) cached.clear()
    if (name !== undefined) cached.set(majorMinor, device)
    return device
  }
}
