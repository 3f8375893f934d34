// Kills the kubelet and the runtime without notice, at moments that a seed gives, and starts them again.
import type { ChildProcess } from 'node:child_process'
import { openSync } from 'node:fs'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import type { Random } from '../../test/fuzz/random.js'
import { until } from '../cluster/checks-inside.js'
import type { NodeKubelet } from '../cluster/node-kubelet.js'
import { createCgroups } from '../node-environment/cgroups.js'
import { type EnvironmentPlan, insideDirectory, runtimeSocket } from '../node-environment/plan.js'
import { spawnInCgroups } from '../node-environment/spawn-in-cgroups.js'

export type Kill = 'kubelet' | 'runtime'

/** How often of each, in an order that the seed gives. */
export function planKills(kubelet: number, runtime: number, random: Random): readonly Kill[] {
  const kills: Kill[] = [...Array<Kill>(kubelet).fill('kubelet'), ...Array<Kill>(runtime).fill('runtime')]
  for (let i = kills.length - 1; i > 0; i--) {
    const other = random.below(i + 1)
    const [a, b] = [kills[i], kills[other]] as [Kill, Kill]
    kills[i] = b
    kills[other] = a
  }
  return kills
}

/** In the middle of the start as well as later. */
const momentMs = (random: Random): number => random.below(random.chance(30) ? 800 : 6_000)

interface RuntimeProcess {
  readonly pid: number
  readonly argv: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

async function findRuntime(): Promise<RuntimeProcess> {
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    const executable = await readlink(`/proc/${pid}/exe`).catch(() => '')
    if (!executable.endsWith('/containerd')) continue
    const words = async (file: string): Promise<readonly string[]> =>
      (await readFile(`/proc/${pid}/${file}`, 'utf8')).split('\0').filter((word) => word !== '')
    const env = Object.fromEntries(
      (await words('environ')).map((word) => {
        const at = word.indexOf('=')
        return [word.slice(0, at), word.slice(at + 1)]
      }),
    )
    return { pid: Number(pid), argv: await words('cmdline'), env }
  }
  throw new Error('no containerd runs')
}

/** As a service manager does it: the shims, and so the pods, go on. */
export async function createRuntimeKiller(): Promise<(downMs: number) => Promise<void>> {
  const plan = JSON.parse(await readFile(join(insideDirectory, 'plan.json'), 'utf8')) as EnvironmentPlan
  const first = await findRuntime()
  const log = openSync(join(insideDirectory, 'out/containerd-again.log'), 'a')
  const cri = createCriClient(`unix://${runtimeSocket}`)
  let current: Pick<ChildProcess, 'pid'> = first
  const answers = async (): Promise<boolean> => {
    const options = { timeoutMs: 2_000, signal: new AbortController().signal }
    return cri.runtime.version({}, options).then(
      () => true,
      () => false,
    )
  }
  return async (downMs) => {
    process.kill(current.pid ?? 0, 'SIGKILL')
    await sleep(downMs)
    const procs = await createCgroups(plan.hierarchies, 'docker-daemon')
    current = spawnInCgroups(first.argv, procs, { env: first.env, output: log })
    await until('containerd answers again', 60, answers)
  }
}

export interface Killer {
  readonly kubelet: NodeKubelet
  /** Of the kubelet. */
  readonly command: string
  readonly killRuntime: (downMs: number) => Promise<void>
  readonly random: Random
}

export async function killAll(kills: readonly Kill[], o: Killer): Promise<void> {
  const { random } = o
  for (const kill of kills) {
    await sleep(momentMs(random))
    if (kill === 'runtime') await o.killRuntime(random.below(1_500))
    else {
      await o.kubelet.stop('SIGKILL')
      await sleep(random.below(1_000))
      o.kubelet.start(o.command, 'keelson')
    }
  }
}
