// The kubelet of a cluster's node, taken over by a program inside: ended, killed, started again, or changed for another one.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { access, appendFile, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { insideDirectory } from '../node-environment/plan.js'
import { until } from './checks-inside.js'

export interface NodeKubelet {
  /** Its log is `kubelet-NAME.log`, to which each start appends. */
  start(command: string, name: string): void
  /** Resolves when it has ended. */
  stop(signal: NodeJS.Signals): Promise<void>
}

/** The first process of the kubelet that the cluster was started with. */
async function findKubelet(): Promise<{ readonly pid: number; readonly args: readonly string[] }> {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const words = (await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')).split('\0')
    const first = words.findIndex((word) => word.startsWith('--config=') && word.endsWith('/kubelet.yaml'))
    if (first >= 0 && !words.some((w) => w.includes('setpriv')))
      return { pid: Number(entry), args: words.slice(first).filter((w) => w !== '') }
  }
  throw new Error('no kubelet runs')
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Ends the kubelet that runs. `settings` are added to the configuration of those that are started from now on. */
export async function takeOverKubelet(settings: object = {}): Promise<NodeKubelet> {
  const { pid, args } = await findKubelet()
  process.kill(pid, 'SIGTERM')
  await until('the first kubelet has ended', 60, async () => !(await isThere(`/proc/${pid}`)))
  const config = args.find((arg) => arg.startsWith('--config='))?.slice('--config='.length) ?? ''
  if (Object.keys(settings).length > 0) await appendFile(config, stringify(settings))
  let current: ChildProcess | undefined
  return {
    start(command, name) {
      const log = openSync(join(insideDirectory, 'out', `kubelet-${name}.log`), 'a')
      current = spawn(command, args, { stdio: ['ignore', log, log] })
    },
    async stop(signal) {
      if (current === undefined || current.exitCode !== null || current.signalCode !== null) return
      const ended = once(current, 'exit')
      current.kill(signal)
      await ended
    },
  }
}
