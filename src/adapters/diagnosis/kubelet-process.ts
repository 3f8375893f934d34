// Finds the kubelet among the processes of this machine, upstream's or ours, by its command line.
import { readdir, readFile, readlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { KubeletProcess } from '../../ports/diagnosis.js'

/** What our own program is called, as a binary, a bundle or a source file. */
const ownNames = ['keelson', 'main.js', 'main.mjs', 'main.ts']
/** node, its options and the script come before the command's name. */
const maxWordsBefore = 8

/** `['node', '/x/main.js', 'kubelet', '--v', '4']` -> keelson, ['--v', '4'] */
export function readKubeletCommand(
  words: readonly string[],
): Pick<KubeletProcess, 'kind' | 'args'> | undefined {
  const [name = '', ...rest] = words
  if (basename(name) === 'kubelet') return { kind: 'upstream', args: rest }
  const at = words.slice(0, maxWordsBefore).indexOf('kubelet')
  if (at < 1 || !ownNames.includes(basename(words[at - 1] ?? ''))) return undefined
  return { kind: 'keelson', args: words.slice(at + 1) }
}

export async function findKubeletProcess(proc = '/proc'): Promise<KubeletProcess | undefined> {
  const ids = (await readdir(proc).catch(() => [])).filter((n) => /^\d+$/.test(n))
  for (const id of ids) {
    const text = await readFile(join(proc, id, 'cmdline'), 'utf8').catch(() => '')
    const found = readKubeletCommand(text.split('\0').slice(0, -1))
    if (found === undefined) continue
    const cwd = await readlink(join(proc, id, 'cwd')).catch(() => '/')
    return { pid: Number(id), cwd, ...found }
  }
  return undefined
}

const ticksPerSecond = 100

/** When the kubelet of this machine was started. Undefined: none runs, or its processes are not shown to us. */
export async function findKubeletStart(
  proc = '/proc',
): Promise<{ readonly pid: number; readonly id: string; readonly ageMs: number } | undefined> {
  const found = await findKubeletProcess(proc)
  if (found === undefined) return undefined
  const [stat, uptime] = await Promise.all(
    [join(String(found.pid), 'stat'), 'uptime'].map((file) =>
      readFile(join(proc, file), 'utf8').catch(() => ''),
    ),
  )
  // After the name, which may contain anything, the start is the twentieth field: in clock ticks since boot.
  const ticks = Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  const seconds = Number(uptime?.split(' ')[0])
  if (!Number.isFinite(ticks) || !Number.isFinite(seconds)) return undefined
  return {
    pid: found.pid,
    id: `${found.pid} ${ticks}`,
    ageMs: Math.max(0, seconds * 1000 - (ticks / ticksPerSecond) * 1000),
  }
}
