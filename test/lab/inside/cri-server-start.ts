// A CRI server inside a scenario, in front of the scenario's containerd.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCriClient } from '../../../src/adapters/cri/client/client.js'
import { createLog } from '../../../src/adapters/log/log.js'
import type { CriOptions } from '../../../src/cli/cri/options.js'
import { type RunningCri, startCri } from '../../../src/cli/cri/run-server.js'
import type { CriClient } from '../../../src/ports/runtime.js'
import { defaultSettings } from '../../../src/serve/settings.js'

export interface ScenarioServer {
  readonly running: RunningCri
  readonly client: CriClient
  readonly lines: readonly string[]
  readonly dir: string
  close(): Promise<void>
}

export async function startScenarioServer(
  runtimeEndpoint: string,
  name: string,
  options: Partial<CriOptions> = {},
): Promise<ScenarioServer> {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-cri-lab-'))
  const lines: string[] = []
  const log = createLog({ format: 'text', level: 'debug', write: (line) => lines.push(line) })
  const running = await startCri(
    {
      runtimeEndpoint,
      listen: `unix://${join(dir, `${name}.sock`)}`,
      mode: 'complete',
      values: 'repair',
      cgroupDriver: undefined,
      serve: { ...defaultSettings('cri', 'node-1'), port: 0 },
      logFormat: 'text',
      isDebug: false,
      ...options,
    },
    log,
  )
  const client = createCriClient(`unix://${running.socketPath}`, { timeoutMs: 60_000 })
  return {
    running,
    client,
    lines,
    dir,
    async close() {
      client.close()
      await running.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
