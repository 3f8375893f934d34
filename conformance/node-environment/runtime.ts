// Starts the container runtime of a node environment, with the environment's registry behind every name of an image.
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lacksSysResource } from '../../src/lab/containerd/start-containerd.js'
import { mustRun } from '../../src/lab/process.js'
import { formatHosts } from '../images/registry.js'
import { formatConfig } from './containerd-config.js'
import { formatCrioConfig, formatRegistries, formatRuncWrapper, signaturePolicy } from './crio-config.js'
import {
  type ContainerdPrograms,
  type CrioPrograms,
  driverOf,
  type EnvironmentPlan,
  insideDirectory,
  registryPort,
  runtimeSocket,
  socketOf,
} from './plan.js'

const IMPORT_MS = 5 * 60_000
const registryAddress = `127.0.0.1:${registryPort}`
export const registryUrl = `http://${registryAddress}`

export interface RuntimeStart {
  readonly name: string
  readonly argv: readonly string[]
  readonly env: NodeJS.ProcessEnv
  ready(): Promise<boolean>
}

/** Where the configuration of containerd and CRI-O lies; a running one is found by it. */
export const runtimeConfig = join(insideDirectory, 'runtime.toml')

async function prepareContainerd(plan: EnvironmentPlan, programs: ContainerdPrograms): Promise<RuntimeStart> {
  const hosts = join(insideDirectory, 'registries')
  for (const [host, url] of [
    ['_default', registryUrl],
    ['localhost:5000', 'http://localhost:5000'], // agnhost's own registry, in a pod of a spec
  ] as const) {
    await mkdir(join(hosts, host), { recursive: true })
    await writeFile(join(hosts, host, 'hosts.toml'), formatHosts(url))
  }
  const { containerd, runc, shims } = programs
  const { collectPeriod } = plan
  const settings = { directory: insideDirectory, runc, driver: driverOf(plan.place), collectPeriod }
  await writeFile(runtimeConfig, formatConfig(plan.runtime, settings))
  return {
    name: 'containerd',
    argv: [containerd, '--config', runtimeConfig],
    env: { ...process.env, PATH: `${shims}:${process.env.PATH}` },
    async ready() {
      if (!existsSync(runtimeSocket)) return false
      await mustRun([...client(programs), 'version'], { signal: AbortSignal.timeout(5_000) })
      return true
    },
  }
}

const client = ({ ctr }: ContainerdPrograms): string[] => [
  ctr,
  '--address',
  runtimeSocket,
  '--namespace',
  'k8s.io',
]

async function prepareCrio(plan: EnvironmentPlan, programs: CrioPrograms): Promise<RuntimeStart> {
  const at = (name: string): string => join(insideDirectory, name)
  const wrapper = at('runc')
  const isWrapped = (await lacksSysResource()) || !existsSync('/sys/kernel/mm/hugepages')
  if (isWrapped) await writeFile(wrapper, formatRuncWrapper(programs.runc), { mode: 0o755 })
  await writeFile(at('policy.json'), signaturePolicy)
  // The environment's own /etc: CRI-O reads them nowhere else.
  await mkdir('/etc/containers', { recursive: true })
  await writeFile('/etc/containers/registries.conf', formatRegistries(registryAddress))
  await mkdir(at('empty.d'), { recursive: true })
  const socket = socketOf('cri-o')
  await writeFile(
    runtimeConfig,
    formatCrioConfig({
      directory: insideDirectory,
      socket,
      driver: driverOf(plan.place),
      conmon: programs.conmon,
      pinns: programs.pinns,
      runc: isWrapped ? wrapper : programs.runc,
    }),
  )
  return {
    name: 'CRI-O',
    argv: [programs.crio, '--config', runtimeConfig, '--config-dir', at('empty.d')],
    env: process.env,
    ready: async () => existsSync(socket),
  }
}

export const prepareRuntime = (plan: EnvironmentPlan): Promise<RuntimeStart> =>
  plan.programs.kind === 'cri-o' ? prepareCrio(plan, plan.programs) : prepareContainerd(plan, plan.programs)

export async function importImages({ programs, imageArchive }: EnvironmentPlan): Promise<void> {
  if (imageArchive === undefined || programs.kind === 'cri-o') return
  const argv = [...client(programs), 'images', 'import', imageArchive]
  await mustRun(argv, { signal: AbortSignal.timeout(IMPORT_MS) })
}
