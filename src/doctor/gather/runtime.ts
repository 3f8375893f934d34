// Asks the runtime everything the checks want, side by side, each question with a short deadline. What it does not
// answer is left out.
import { valuesModes } from '../../core/cri/values-mode.js'
import { asKeelsonError, isKeelsonError } from '../../core/errors.js'
import { ContainerState } from '../../cri-api/api.js'
import type { RuntimeAnswer } from '../../ports/bootstrap.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { CallOptions, CriClient } from '../../ports/runtime.js'
import type { DoctorPorts, DriverEvidence } from '../doctor-ports.js'
import type { CriServerFacts, MetricDescriptors, RunningContainer, RuntimeFacts } from '../facts.js'

interface RuntimeInput {
  readonly ports: Pick<DoctorPorts, 'connect' | 'askDriver' | 'gatherEvidence'>
  readonly endpoint: string
  readonly cgroups: CgroupTree | undefined
  readonly cgroupRoot: string | undefined
  readonly callMs: number
  readonly signal: AbortSignal
}

type GatheredRuntime =
  | { readonly kind: 'answered'; readonly answer: RuntimeAnswer; readonly facts: RuntimeFacts }
  /** Nothing listens there, or it is no runtime. */
  | { readonly kind: 'none' }
  /** It may be one, but the time was up. */
  | { readonly kind: 'late' }

/** Enough to see a pattern within the time of a run. */
const maxContainers = 64
const atOnce = 8

export async function gatherRuntime(input: RuntimeInput): Promise<GatheredRuntime> {
  const { ports, endpoint, cgroups, callMs, signal } = input
  const client = open(ports, endpoint, callMs)
  if (client === undefined) return { kind: 'none' }
  const options: CallOptions = { timeoutMs: callMs, signal }
  try {
    const version = await client.runtime.version({ version: 'v1' }, options)
    const [driver, status, evidence, containers, descriptors] = await Promise.all([
      ports.askDriver(client, callMs, signal),
      readStatus(client, options),
      cgroups === undefined ? nothing : readEvidence(input, client, cgroups),
      readContainers(client, options),
      readDescriptors(client, options),
    ])
    const known =
      driver.kind === 'unimplemented' ? 'unimplemented' : driver.kind === 'failed' ? 'failed' : 'known'
    return {
      kind: 'answered',
      answer: { name: version.runtimeName, version: version.runtimeVersion, runtimeConfig: known },
      facts: { ...evidence, ...status, driver, containers, descriptors },
    }
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    const late = e.code === 'runtime.deadline' || e.code === 'runtime.cancelled'
    return { kind: late ? 'late' : 'none' }
  } finally {
    client.close()
  }
}

const nothing: DriverEvidence = {
  sandboxes: [],
  handlers: [],
  populated: { cgroupfs: false, systemd: false },
}

/** Running out of time here must not lose what the other questions brought. */
async function readEvidence(
  { ports, cgroupRoot, signal }: RuntimeInput,
  client: CriClient,
  cgroups: CgroupTree,
): Promise<DriverEvidence> {
  try {
    return await ports.gatherEvidence(client, cgroups, cgroupRoot, signal)
  } catch (e) {
    if (!signal.aborted) throw e
    return nothing
  }
}

/** An endpoint that is no unix socket is a finding, not an end. */
function open(ports: Pick<DoctorPorts, 'connect'>, endpoint: string, callMs: number): CriClient | undefined {
  try {
    return ports.connect(endpoint, callMs)
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    return undefined
  }
}

type StatusFacts = Pick<RuntimeFacts, 'conditions' | 'criServer'>

async function readStatus(client: CriClient, options: CallOptions): Promise<StatusFacts> {
  try {
    const { status, info } = await client.runtime.status({ verbose: true }, options)
    const conditions = status?.conditions ?? []
    return {
      conditions: conditions.map((c) => ({ type: c.type, status: c.status, message: c.message })),
      criServer: parseCriServer(info.keelson),
    }
  } catch (e) {
    const message = asKeelsonError(e).message
    return { conditions: [{ type: 'RuntimeReady', status: false, message }], criServer: undefined }
  }
}

/** The entry that `keelson cri` adds to the verbose status. */
function parseCriServer(text: string | undefined): CriServerFacts | undefined {
  const parsed = parseJson(text)
  const given = at(parsed, ['values'])
  const values = valuesModes.find((mode) => mode === given)
  if (values === undefined) return undefined
  const repaired = at(parsed, ['repaired'])
  const counts = Object.entries(typeof repaired === 'object' && repaired !== null ? repaired : {})
  return {
    values,
    repaired: Object.fromEntries(counts.filter((e): e is [string, number] => typeof e[1] === 'number')),
  }
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

async function readDescriptors(client: CriClient, options: CallOptions): Promise<MetricDescriptors> {
  try {
    const { descriptors } = await client.runtime.listMetricDescriptors({}, options)
    return { kind: 'listed', names: descriptors.map((d) => d.name) }
  } catch (e) {
    const error = asKeelsonError(e)
    return error.code === 'runtime.unimplemented'
      ? { kind: 'unimplemented' }
      : { kind: 'failed', reason: error.message }
  }
}

async function readContainers(client: CriClient, options: CallOptions): Promise<readonly RunningContainer[]> {
  try {
    const filter = { state: { state: ContainerState.CONTAINER_RUNNING } }
    const { containers } = await client.runtime.listContainers({ filter }, options)
    const queue = containers.slice(0, maxContainers)
    const found: RunningContainer[] = []
    const work = async (): Promise<void> => {
      for (let c = queue.shift(); c !== undefined; c = queue.shift()) {
        const { labels, metadata, id } = c
        const pod = `${labels['io.kubernetes.pod.namespace'] ?? ''}/${labels['io.kubernetes.pod.name'] ?? ''}`
        const name = labels['io.kubernetes.container.name'] ?? metadata?.name ?? ''
        found.push({ id, name: `${pod}/${name}`, unified: await readUnified(client, id, options) })
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    return []
  }
}

async function readUnified(
  client: CriClient,
  containerId: string,
  options: CallOptions,
): Promise<RunningContainer['unified']> {
  try {
    const { info } = await client.runtime.containerStatus({ containerId, verbose: true }, options)
    return parseUnified(info.info)
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    return undefined
  }
}

/** containerd's verbose status holds the request as `config`, and what it made of it as `runtimeSpec`. */
export function parseUnified(text: string | undefined): RunningContainer['unified'] {
  const unified = at(parseJson(text), ['config', 'linux', 'resources', 'unified'])
  if (typeof unified !== 'object' || unified === null) return undefined
  return Object.fromEntries(
    Object.entries(unified).filter((e): e is [string, string] => typeof e[1] === 'string'),
  )
}

function at(value: unknown, path: readonly string[]): unknown {
  let found = value
  for (const key of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as Readonly<Record<string, unknown>>)[key]
  }
  return found
}
