// The real `keelson cri` and `keelson companion`, bundled as they are shipped: settings become flags. What they stand beside
// is made up: a scripted runtime, and a kubelet that answers /pods and /configz.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { runtimeConfig } from '../../src/fakes/cri/shapes.js'
import { bundleCommand, freePorts, startCommand } from '../support/command.js'
import { version } from '../support/kubelet-fixture.js'
import { type Served, type Start, type StartInput, temporaryDirectory } from './start.js'

const flagsOf = ({ settings, kubeconfig }: StartInput, port: number, healthPort: number): string[] => [
  `--address=${settings.address}`,
  `--port=${port}`,
  `--healthz-port=${healthPort}`,
  `--cert-dir=${settings.certDirectory}`,
  `--token-file=${settings.localTokenFile}`,
  `--node-name=${settings.nodeName}`,
  `--anonymous-auth=${settings.anonymous}`,
  `--authentication-token-webhook=${settings.tokenReview.enabled}`,
  `--authentication-token-webhook-cache-ttl=${settings.tokenReview.cacheTtlMs}ms`,
  `--authorization-mode=${settings.authorization.mode}`,
  `--authorization-webhook-cache-authorized-ttl=${settings.authorization.allowTtlMs}ms`,
  `--authorization-webhook-cache-unauthorized-ttl=${settings.authorization.denyTtlMs}ms`,
  ...(settings.clientCAFile === undefined ? [] : [`--client-ca-file=${settings.clientCAFile}`]),
  ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
  '--v=4',
]

/** Settings that keep a companion away from whatever this host runs: a cgroup root that no host has. */
const emptyNode = {
  kubeletconfig: {
    cgroupRoot: '/keelson-no-such-root',
    cgroupDriver: 'cgroupfs',
    enforceNodeAllocatable: [],
  },
}

async function startFakeKubelet(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((req, res) => {
    const body = req.url === '/configz' ? emptyNode : { kind: 'PodList', apiVersion: 'v1', items: [] }
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function startReal(
  input: StartInput,
  command: readonly string[],
  isUp: string,
  close: () => Promise<unknown>,
): Promise<Served> {
  const bundle = await bundleCommand()
  const [port = 0, healthPort = 0] = await freePorts(2)
  const started = startCommand([bundle.main, ...command, ...flagsOf(input, port, healthPort)])
  const stop = async (): Promise<void> => {
    await started.end()
    await close()
    await bundle.remove()
  }
  try {
    await started.says(isUp, 60_000)
  } catch (e) {
    await stop()
    throw e
  }
  const url = `https://127.0.0.1:${port}`
  return { url, port, healthPort, pid: started.process.pid ?? 0, log: started.output, stop }
}

export const startRealCri: Start = async (input) => {
  const files = temporaryDirectory()
  const runtime = await startFakeRuntime({ Version: version, RuntimeConfig: runtimeConfig.cgroupfs })
  const command = [
    'cri',
    `--runtime-endpoint=${runtime.endpoint}`,
    `--listen=unix://${join(files.path, 'cri.sock')}`,
    '--log-format=json',
  ]
  return startReal(input, command, 'CRI server started', async () => {
    await runtime.close()
    files.remove()
  })
}

export const startRealCompanion: Start = async (input) => {
  const files = temporaryDirectory()
  const kubelet = await startFakeKubelet()
  const runtime = await startFakeRuntime({ Version: version })
  const command = [
    'companion',
    `--kubelet-url=${kubelet.url}`,
    `--runtime-endpoint=${runtime.endpoint}`,
    `--state-dir=${join(files.path, 'state')}`,
    '--log-format=json',
  ]
  return startReal(input, command, 'companion started', async () => {
    await runtime.close()
    await kubelet.close()
    files.remove()
  })
}
