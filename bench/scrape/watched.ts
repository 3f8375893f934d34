// The two exporters as processes of their own and a client that scrapes them as Prometheus
// does: kept connection, compressed answers, TLS where there is a certificate.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type Agent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { startApiStub } from '../../test/memory-qos/api-stub.js'
import { freePorts } from '../../test/support/command.js'

export interface Scraped {
  readonly ms: number
  readonly series: number
  readonly bytes: number
}

export interface Exporter {
  readonly name: string
  readonly pid: number
  scrape(count?: boolean): Promise<Scraped>
  close(): Promise<void>
}

interface Place {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly token?: string
}

function scraper({ host, port, path, token }: Place): (count?: boolean) => Promise<Scraped> {
  const agent = new TlsAgent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 1 })
  const headers = {
    'accept-encoding': 'gzip',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  return async (count = false) => {
    const began = performance.now()
    const body = await new Promise<Buffer>((resolve, reject) => {
      const common = { host, port, path, headers, timeout: 30_000 }
      const outgoing =
        token === undefined ? plainRequest(common) : tlsRequest({ ...common, agent: agent as Agent })
      outgoing
        .once('response', (answer) => {
          const parts: Buffer[] = []
          answer.on('data', (part: Buffer) => parts.push(part))
          answer.once('end', () =>
            answer.statusCode === 200
              ? resolve(Buffer.concat(parts))
              : reject(new Error(`${path}: status ${answer.statusCode}`)),
          )
        })
        .once('timeout', () => outgoing.destroy(new Error(`${path}: no answer`)))
        .once('error', reject)
        .end()
    })
    const ms = performance.now() - began
    if (!count) return { ms, series: 0, bytes: body.length }
    const text = (body[0] === 0x1f ? gunzipSync(body) : body).toString()
    return {
      ms,
      series: text.split('\n').filter((l) => l.startsWith('container_')).length,
      bytes: body.length,
    }
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/** cAdvisor's library with the kubelet's metric set and housekeeping; see conformance/go/cadvisor. */
export async function startCadvisor(binary: string, root: string, socket: string): Promise<Exporter> {
  const child = spawn(binary, [`-roots=${root}`, `-containerd=${socket}`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = (await once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) })) as [Buffer]
  const port = Number(line.toString().trim().split(':').at(-1))
  return {
    name: 'cAdvisor',
    pid: child.pid ?? 0,
    scrape: scraper({ host: '127.0.0.1', port, path: '/metrics' }),
    close: () => end(child),
  }
}

/** The bundled `keelson companion` beside a kubelet that has nothing to say. */
export async function startCompanion(main: string, endpoint: string, cgroupRoot: string): Promise<Exporter> {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-scrape-'))
  const stub = await startApiStub()
  const [port = 0] = await freePorts(1)
  const config = join(directory, 'kubelet.yaml')
  writeFileSync(
    config,
    `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncgroupDriver: cgroupfs\ncgroupRoot: ${cgroupRoot}\n`,
  )
  const child = spawn(
    process.execPath,
    [
      main,
      'companion',
      `--kubelet-config=${config}`,
      `--kubelet-url=${stub.url}`,
      `--state-dir=${directory}/state`,
      `--cert-dir=${directory}`,
      `--token-file=${directory}/token`,
      '--address=127.0.0.1',
      `--port=${port}`,
      '--healthz-port=0',
      `--runtime-endpoint=${endpoint}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let log = ''
  child.stderr.on('data', (data: Buffer) => {
    log = (log + data.toString()).slice(-20_000)
  })
  for (const until = Date.now() + 60_000; !log.includes('companion started'); await sleep(50))
    if (Date.now() > until || child.exitCode !== null) throw new Error(`the companion did not start:\n${log}`)
  const token = readFileSync(`${directory}/token`, 'utf8').trim()
  return {
    name: 'keelson companion',
    pid: child.pid ?? 0,
    scrape: scraper({ host: '127.0.0.1', port, path: '/metrics/cadvisor', token }),
    async close() {
      await end(child)
      await stub.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
