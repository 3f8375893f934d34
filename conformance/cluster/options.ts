// The flags of a cluster, checked before anything is built or started.
import { createServer } from 'node:net'
import { fieldAt } from '../../src/config/field-at.js'
import { kubeletSchema } from '../../src/config/kubelet-schema.js'
import { type RuntimeName, suiteRuntimes } from '../node-environment/plan.js'
import { type KubeletName, kubelets } from '../node-environment/programs.js'
import { type OptionValues, type UnitOption, UsageError } from '../unit.js'

export interface ClusterOptions {
  readonly kubelet: KubeletName
  readonly runtime: RuntimeName
  readonly proxy: boolean
  readonly dns: boolean
  readonly auditLog: boolean
  /** 0: a free one. */
  readonly port: number
}

export const clusterFlags: Readonly<Record<string, UnitOption>> = {
  kubelet: { type: 'string', summary: `${kubelets.join(' or ')} (default upstream)` },
  runtime: { type: 'string', summary: `${suiteRuntimes.join(' or ')} (default containerd-2)` },
  proxy: { type: 'boolean', summary: 'with kube-proxy: pods reach Services, the API server among them' },
  dns: { type: 'boolean', summary: 'with CoreDNS on the node' },
  'audit-log': { type: 'boolean', summary: 'the API server writes a line for each request' },
  port: { type: 'string', summary: "port of this host's loopback for the API server (default: a free one)" },
}

function oneOf<T extends string>(flag: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((a) => a === value)
  if (found === undefined) throw new UsageError(`--${flag} ${value}: choose one of ${allowed.join(', ')}`)
  return found
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw new UsageError(`--port ${text}: give a number from 1 to 65535`)
  return port
}

/** A kubelet that registers no Node cannot be a node of a cluster. */
const keelsonRegisters = (): boolean => fieldAt(kubeletSchema, 'registerNode')?.effect.kind === 'honoured'

export function parseClusterOptions(
  given: OptionValues,
  canKeelsonJoin: () => boolean = keelsonRegisters,
): ClusterOptions {
  const text = (name: string, otherwise: string): string => {
    const value = given[name]
    return typeof value === 'string' ? value : otherwise
  }
  const kubelet = oneOf<KubeletName>('kubelet', text('kubelet', 'upstream'), kubelets)
  if (kubelet === 'keelson' && !canKeelsonJoin())
    throw new UsageError(
      '--kubelet keelson: this version of `keelson kubelet` cannot join a cluster (registerNode has no effect); use --kubelet upstream',
    )
  return {
    kubelet,
    runtime: oneOf<RuntimeName>('runtime', text('runtime', 'containerd-2'), suiteRuntimes),
    proxy: given.proxy === true,
    dns: given.dns === true,
    auditLog: given['audit-log'] === true,
    port: given.port === undefined ? 0 : parsePort(text('port', '')),
  }
}

export async function requireFreePort(port: number): Promise<void> {
  if (port === 0) return
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  }).catch((e: unknown) => {
    throw new UsageError(
      `--port ${port}: ${e instanceof Error ? e.message : String(e)}; choose another one, or none for a free one`,
    )
  })
  await new Promise((done) => server.close(done))
}
