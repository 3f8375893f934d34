// The companion out of the shipped image, by the shipped manifests, beside an independent pod runner: what it needs of the host is
// there (cgroups, runtime, D-Bus, the kubelet's certificate, processes), its values appear, and the rollback restores every original.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { parseAllDocuments } from 'yaml'
import type { Check } from '../../support/check.js'
import { startApiServer, startKubelet, token } from './cluster-stand-in.js'
import { CompanionFixture } from './companion-fixture.js'
import { type PodJson, type RunningManifest, runManifest } from './manifest-over-cri.js'
import { client, containerPath, mib, text } from './memory-qos-node.js'
import { pidOf } from './pod.js'
import { until } from './program.js'

const configMap = '/tmp/companion-config'
let fixture: CompanionFixture | undefined
let companion: RunningManifest | undefined

const documents = (variable: string) =>
  parseAllDocuments(process.env[variable] ?? '').map(
    (d) =>
      d.toJS() as { readonly kind: string; readonly data?: Record<string, string>; readonly spec?: unknown },
  )
const podOf = (variable: string): PodJson => {
  const set = documents(variable).find((d) => d.kind === 'DaemonSet')
  return (set as { readonly spec: { readonly template: { readonly spec: PodJson } } }).spec.template.spec
}

const ask = (port: number, path: string, how: 'http' | 'https'): Promise<string> =>
  new Promise((resolve, reject) => {
    const send = how === 'http' ? plainRequest : request
    const headers = { authorization: `Bearer ${token}` }
    send({ host: '127.0.0.1', port, path, headers, rejectUnauthorized: false }, (answer) => {
      let body = ''
      answer.on('data', (part: Buffer) => {
        body += part.toString()
      })
      answer.on('end', () =>
        answer.statusCode === 200
          ? resolve(body)
          : reject(new Error(`${path}: ${answer.statusCode} ${body}`)),
      )
    })
      .on('error', reject)
      .end()
  })

const companionLog = (): string =>
  companion !== undefined && existsSync(companion.log) ? readFileSync(companion.log, 'utf8').slice(-5000) : ''

const exitOf = (containerId: string): Promise<number> =>
  until('the init container ends', async () => {
    const { status } = await client().runtime.containerStatus({ containerId })
    return status?.state === 2 ? status.exitCode : undefined
  })

const placeOf = async (pod: string): Promise<string> => {
  const running = fixture?.running.get(pod)
  assert.ok(running, 'an earlier check failed')
  return containerPath(running, 'app')
}

export const checks: readonly Check[] = [
  {
    name: 'PKG-20 pods of another runner with values of their own, before the companion',
    timeoutMs: 400_000,
    async run() {
      fixture = await CompanionFixture.start()
      for (const dir of [configMap, '/var/lib/containerd', '/var/log/pods'])
        mkdirSync(dir, { recursive: true })
      await startApiServer(fixture.api)
      await startKubelet(fixture.api)
      const map = documents('COMPANION_YAML').find((d) => d.kind === 'ConfigMap')
      writeFileSync(`${configMap}/config.yaml`, map?.data?.['config.yaml'] ?? '')
    },
  },
  {
    name: 'PKG-21 the image runs the companion as the manifest says: Memory QoS values appear on real pods',
    timeoutMs: 400_000,
    async run() {
      assert.ok(fixture, 'an earlier check failed')
      companion = await runManifest(client(), 'companion', podOf('COMPANION_YAML'), configMap, exitOf)
      const [web, db] = [await placeOf('web'), await placeOf('db')]
      // TieredReservation of the manifest: low for Burstable, min for Guaranteed; 32Mi + 0.9 x 64Mi in whole pages.
      await until(
        'the values of web and db',
        () =>
          text(web, 'memory.low') === mib(32) &&
          text(web, 'memory.high') === '93949952' &&
          text(db, 'memory.min') === mib(48)
            ? true
            : undefined,
        companionLog,
      )
      assert.notDeepEqual(fixture.everything(), fixture.first)
    },
  },
  {
    name: 'PKG-22 its probes answer, and its metrics have processes of the pods and file systems of the host',
    timeoutMs: 400_000,
    async run() {
      assert.ok(companion, 'an earlier check failed')
      assert.equal(await ask(10253, '/healthz', 'http'), 'ok')
      const page = await until(
        'processes of web',
        async () => {
          const found = await ask(10251, '/metrics/cadvisor', 'https')
          return /container_processes\{[^}]*pod="web"[^}]*\} [1-9]/.test(found) ? found : undefined
        },
        companionLog,
      )
      assert.match(page, /container_memory_working_set_bytes\{[^}]*container="app"[^}]*pod="web"/)
      // Descriptors of a process with other capabilities: what SYS_PTRACE is for.
      assert.match(page, /container_file_descriptors\{[^}]*pod="web"[^}]*\} [1-9]/)
      const summary = await until('the file system of the node', async () => {
        const found = JSON.parse(await ask(10251, '/stats/summary', 'https')) as {
          readonly node: { readonly fs?: { readonly capacityBytes?: number } }
        }
        return (found.node.fs?.capacityBytes ?? 0) > 0 ? found : undefined
      })
      const status = readFileSync(`/proc/${await pidOf(client(), companion.containerId)}/status`, 'utf8')
      // CAP_SYS_PTRACE and nothing else.
      assert.match(status, /^CapEff:\s+0000000000080000$/m)
      assert.match(status, /^NoNewPrivs:\s+1$/m)
      assert.match(status, /^Seccomp:\s+2$/m)
      return {
        rssMiB: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024),
        capacityBytes: summary.node.fs?.capacityBytes,
      }
    },
  },
  {
    name: 'PKG-23 the rollback manifest restores every original value',
    timeoutMs: 400_000,
    async run() {
      assert.ok(fixture && companion, 'an earlier check failed')
      await companion.remove()
      assert.notDeepEqual(fixture.everything(), fixture.first, 'its values stay when it ends')
      const rollback = await runManifest(client(), 'rollback', podOf('ROLLBACK_YAML'), configMap, exitOf)
      assert.deepEqual(fixture.everything(), fixture.first)
      assert.equal(existsSync('/var/lib/keelson/companion/found-values.json'), false)
      // The container that says "done" ends when it is told to, long before it would be killed.
      const began = Date.now()
      await rollback.remove()
      assert.ok(Date.now() - began < 60_000)
      await fixture.close()
    },
  },
]
