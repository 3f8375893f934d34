// Processes, files and the kernel for the steps of `keelson up`.
import { chmod, copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClock } from '../../adapters/clock/clock.js'
import type { NodePlan } from '../../up/node.js'
import type { UpPorts } from '../../up/up-ports.js'
import { isHealthy, startPart, takesConnections, waitUntil } from './parts.js'
import { openView, readMemory, readValues } from './view.js'

const startMs = 60_000

export function createPorts(
  { directories, logDir, settings: { ports } }: NodePlan,
  endpoint: string,
  accessDir: string | undefined,
  signal: AbortSignal,
): UpPorts {
  const log = (name: string): string => join(logDir, `${name}.log`)
  return {
    write: (path, text) => writeFile(path, text),
    async clear(directory) {
      for (const name of await readdir(directory))
        if (name !== 'lost+found') await rm(join(directory, name), { force: true })
    },
    async startCri() {
      const part = startPart(
        'keelson cri',
        ['cri', '--runtime-endpoint', endpoint, '--listen', `unix://${directories.criSocket}`, '--port', '0'],
        log('cri'),
      )
      await waitUntil(() => takesConnections(directories.criSocket), part, 'the CRI server', startMs, signal)
      return part
    },
    async startKubelet(config) {
      const part = startPart(
        'keelson kubelet',
        ['kubelet', '--config', config, '--root-dir', directories.root, '--v', '2'],
        log('kubelet'),
      )
      await waitUntil(() => isHealthy(ports.healthz), part, 'the kubelet', startMs, signal)
      return part
    },
    async kubelet() {
      if (accessDir !== undefined) await showAccess(directories.root, accessDir)
      return openView(ports.kubelet, directories.root)
    },
    memory: readMemory,
    values: readValues,
    sleep: (ms, stop) => createClock().sleep(ms, stop),
    nowMs: () => Date.now(),
  }
}

/** Laid out as below the kubelet's own directory, so that --root-dir works with it. */
async function showAccess(rootDir: string, accessDir: string): Promise<void> {
  await mkdir(join(accessDir, 'pki'), { recursive: true })
  for (const file of ['keelson-token', 'pki/kubelet.crt']) {
    await copyFile(join(rootDir, file), join(accessDir, file))
    await chmod(join(accessDir, file), 0o600)
  }
}
