// The unit's command line, checked before anything is built or started.

import { type Place, type RuntimeName, suitePlaces, suiteRuntimes } from '../node-environment/plan.js'
import { type KubeletName, kubelets } from '../node-environment/programs.js'
import { UsageError } from '../unit.js'
import { type GroupName, groupNames } from './groups.js'
import { type Selection, type SetName, sets } from './specs.js'

export interface E2eNodeOptions {
  readonly kubelet: KubeletName
  readonly runtime: RuntimeName
  readonly place: Place
  readonly selection: Selection
  readonly procs: number
  /** Size of a file system for the node alone; undefined: it shares this host's. */
  readonly diskGiB?: number
  readonly record: boolean
  /** Where logs and the raw report are copied to. */
  readonly keep: string | undefined
}

const PROCS = 12 // specs mostly wait

/** All specs of pressure are marked: they need the node for themselves. */
const defaultSet = (group: string | undefined): SetName =>
  group === 'pressure' ? 'node-conformance' : 'plain'

function oneOf<T extends string>(flag: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((a) => a === value)
  if (found === undefined) throw new UsageError(`--${flag} ${value}: choose one of ${allowed.join(', ')}`)
  return found
}

export function parseShard(text: string): NonNullable<Selection['shard']> {
  const [, part, of] = /^(\d{1,4})\/(\d{1,4})$/.exec(text)?.map(Number) ?? []
  if (part === undefined || of === undefined || part < 1 || part > of)
    throw new UsageError(`--shard ${text}: give K/N with K from 1 to N, such as 1/4`)
  return { part, of }
}

export function parseOptions(given: Readonly<Record<string, string | boolean | undefined>>): E2eNodeOptions {
  const text = (name: string): string | undefined => {
    const value = given[name]
    return typeof value === 'string' ? value : undefined
  }
  const [group, focus, skip, shard] = [text('group'), text('focus'), text('skip'), text('shard')]
  const procs = Number(text('procs') ?? PROCS)
  if (!Number.isInteger(procs) || procs < 1 || procs > 64)
    throw new UsageError(`--procs ${text('procs')}: give a number from 1 to 64`)
  const disk = text('disk')
  const diskGiB = Number(disk ?? 1)
  if (!Number.isInteger(diskGiB) || diskGiB < 1 || diskGiB > 1024)
    throw new UsageError(`--disk ${disk}: give a number of GiB from 1 to 1024`)
  return {
    kubelet: oneOf<KubeletName>('kubelet', text('kubelet') ?? 'keelson', kubelets),
    runtime: oneOf<RuntimeName>('runtime', text('runtime') ?? 'containerd-2', suiteRuntimes),
    place: oneOf<Place>('place', text('place') ?? 'host', suitePlaces),
    selection: {
      set: oneOf<SetName>('set', text('set') ?? defaultSet(group), sets),
      ...(group === undefined ? {} : { group: oneOf<GroupName>('group', group, groupNames) }),
      ...(focus === undefined ? {} : { focus }),
      ...(skip === undefined ? {} : { skip }),
      ...(shard === undefined ? {} : { shard: parseShard(shard) }),
    },
    procs,
    ...(disk === undefined ? {} : { diskGiB }),
    record: given.record === true,
    keep: text('keep'),
  }
}
