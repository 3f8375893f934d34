// Starts a program that stands in given cgroups from its first instruction: a shell waits for a line, and becomes the
// program once it has been moved.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'

const waitThenRun = ['sh', '-c', 'read -r _ && exec "$@"', 'sh'] as const

export function spawnInCgroups(
  argv: readonly string[],
  procsFiles: readonly string[],
  options: Omit<SpawnOptions, 'stdio'> & { readonly output: 'inherit' | 'pipe' | number },
): ChildProcess {
  const { output, ...rest } = options
  // The kernel ends it when this process is killed without a chance to do so itself.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...waitThenRun, ...argv], {
    ...rest,
    stdio: ['pipe', output, output],
  })
  child.stdin?.on('error', () => {}) // it may have ended before it read
  if (child.pid === undefined) return child // the error event tells
  for (const file of procsFiles) writeFileSync(file, String(child.pid))
  child.stdin?.end('\n')
  return child
}
