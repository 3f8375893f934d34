// The machine_* families: what the node is, not what it does. They carry no time.
import type { Family } from '../catalogue/family.js'
import type { Exposition } from './exposition.js'
import { formatLabels } from './label-set.js'

export interface MachineFacts {
  readonly processors: bigint
  readonly physicalCores: bigint
  readonly sockets: bigint
  readonly memoryBytes: bigint
  readonly swapBytes: bigint
  readonly machineId: string
  readonly systemUuid: string
  readonly bootId: string
}

const gauge = (name: string, help: string): Pick<Family, 'name' | 'type' | 'help' | 'decimals'> => ({
  name,
  help,
  type: 'gauge',
  decimals: 0,
})

const families = {
  processors: gauge('machine_cpu_cores', 'Logical processors that are online.'),
  physicalCores: gauge('machine_cpu_physical_cores', 'Processor cores.'),
  sockets: gauge('machine_cpu_sockets', 'Processor sockets.'),
  memoryBytes: gauge('machine_memory_bytes', 'Memory installed, in bytes.'),
  swapBytes: gauge('machine_swap_bytes', 'Swap space, in bytes.'),
} as const

export function writeMachine(machine: MachineFacts, into: Exposition): void {
  const labels = formatLabels([
    ['boot_id', machine.bootId],
    ['machine_id', machine.machineId],
    ['system_uuid', machine.systemUuid],
  ])
  for (const key of Object.keys(families) as (keyof typeof families)[])
    into.add(families[key], labels, machine[key], '')
}
