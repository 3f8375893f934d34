// `keelson kubelet` as a process beside a scripted runtime, with ports and a root directory of its own.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { type FakeRuntime, startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { ask } from '../serve/client.js'
import { freePorts, type RunningCommand, startCommand } from '../support/command.js'
import { version } from '../support/kubelet-fixture.js'

export interface KubeletProcess extends RunningCommand {
  readonly runtime: FakeRuntime
  readonly directory: string
  readonly port: number
  readonly healthPort: number
  /** A page of the HTTPS server, asked for with the local token. */
  page(path: string): Promise<string>
  /** Ends what is left and removes everything. */
  remove(): Promise<void>
}

export interface KubeletProcessOptions {
  readonly scripts?: Scripts
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly runtime?: FakeRuntime
}

/** Where the host has cgroup v1 only: the flag is known since 1.31, before that nothing has to be said. */
export const onThisHost = (minor: number): string[] => (minor >= 31 ? ['--fail-cgroupv1=false'] : [])

export async function startKubeletProcess(
  main: string,
  { scripts = {}, flags = [], env, runtime: given }: KubeletProcessOptions,
): Promise<KubeletProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-kubelet-'))
  const runtime = given ?? (await startFakeRuntime({ Version: version, ...scripts }))
  const [port = 0, healthPort = 0] = await freePorts(2)
  const command = startCommand(
    [
      main,
      'kubelet',
      `--root-dir=${directory}`,
      '--address=127.0.0.1',
      `--port=${port}`,
      `--healthz-port=${healthPort}`,
      '--hostname-override=node-1',
      `--container-runtime-endpoint=${runtime.endpoint}`,
      ...flags,
    ],
    env,
  )
  return {
    ...command,
    runtime,
    directory,
    port,
    healthPort,
    async page(path) {
      const token = (await readFile(join(directory, 'keelson-token'), 'utf8')).trim()
      const { status, body } = await ask({ port, path, token })
      if (status !== 200) throw new Error(`${path} answered ${status}: ${body}`)
      return body
    },
    async remove() {
      if (command.process.exitCode === null && command.process.signalCode === null)
        await command.end('SIGKILL')
      await runtime.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
