// A single-member etcd on loopback, for the API server of a unit and for nobody else.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startDaemon, waitUntil } from '../process.js'
import { freePorts } from './free-ports.js'

export interface Etcd {
  readonly clientUrl: string
  close(): Promise<void>
}

export async function startEtcd(binary: string, directory: string): Promise<Etcd> {
  const [client, peer] = await freePorts(2)
  const clientUrl = `http://127.0.0.1:${client}`
  const peerUrl = `http://127.0.0.1:${peer}`
  const logFile = join(directory, 'etcd.log')
  const daemon = startDaemon(
    binary,
    [
      `--data-dir=${join(directory, 'etcd')}`,
      '--name=conformance',
      `--listen-client-urls=${clientUrl}`,
      `--advertise-client-urls=${clientUrl}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=conformance=${peerUrl}`,
      '--unsafe-no-fsync', // a run's data is thrown away
    ],
    { logFile },
  )
  const ready = async () => (await fetch(`${clientUrl}/readyz`, { signal: AbortSignal.timeout(1_000) })).ok
  try {
    await waitUntil('etcd ready', ready, {
      timeoutMs: 60_000,
      daemon,
      lastWords: () => readFile(logFile, 'utf8'),
    })
  } catch (e) {
    await daemon.close()
    throw e
  }
  return { clientUrl, close: () => daemon.close() }
}
