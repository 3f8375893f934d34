// What a disk that is full, a clock that is set back and a kill at the wrong moment do to a node's certificates, with a real
// signer. Certificates end two minutes after they were signed here, so that their renewal can be watched.
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Lease } from '../../src/core/kube/objects.js'
import { type KubeletProcess, startKubeletProcess } from '../kubelet/kubelet-process.js'
import { type Bundle, bundleCommand } from '../support/command.js'
import {
  memberFlags,
  type RealControlPlane,
  runtimeScripts,
  startRealControlPlane,
} from '../support/real-control-plane.js'
import { requires } from '../support/requirements.js'

let bundle: Bundle
let plane: RealControlPlane
beforeAll(async () => {
  bundle = await bundleCommand()
  plane = await startRealControlPlane({ signingDuration: '2m' })
})
afterAll(async () => {
  await plane?.close()
  await bundle.remove()
})

interface Place {
  readonly kubeconfig: string
  readonly bootstrap: string
  readonly pki: string
}

const places: string[] = []
const kubelets = new Set<KubeletProcess>()
afterEach(async () => {
  for (const kubelet of kubelets) await kubelet.remove()
  kubelets.clear()
  for (const root of places.splice(0)) {
    try {
      execFileSync('umount', [join(root, 'pki')], { stdio: 'ignore' })
    } catch {
      // not a mount
    }
    await rm(root, { recursive: true, force: true })
  }
})

/** Files of one node that outlive its kubelet processes. `pages`: the certificates are on a file system of so many. */
async function place(pages?: number): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), 'keelson-node-'))
  places.push(root)
  const bootstrap = join(root, 'bootstrap-kubelet.conf')
  const pki = join(root, 'pki')
  await cp(await plane.throughProxy(await plane.issueBootstrapKubeconfig()), bootstrap)
  await mkdir(pki)
  if (pages !== undefined)
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${pages * pageBytes},mode=755`, 'keelson-test', pki])
  return { kubeconfig: join(root, 'kubelet.conf'), bootstrap, pki }
}

async function startNode(name: string, at: Place, env: Record<string, string> = {}): Promise<KubeletProcess> {
  const file = join(at.pki, '..', 'config.yaml')
  const config = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
  await writeFile(file, JSON.stringify({ ...config, rotateCertificates: true }))
  const kubelet = await startKubeletProcess(bundle.main, {
    scripts: runtimeScripts,
    env,
    flags: [
      ...memberFlags(name),
      `--config=${file}`,
      `--kubeconfig=${at.kubeconfig}`,
      `--bootstrap-kubeconfig=${at.bootstrap}`,
      `--cert-dir=${at.pki}`,
    ],
  })
  kubelets.add(kubelet)
  return kubelet
}

async function end(kubelet: KubeletProcess): Promise<void> {
  kubelets.delete(kubelet)
  await kubelet.remove()
}

const pageBytes = 4096

/** Until only so many pages are left; what it returns makes room again. */
async function fillDisk({ pki }: Place, freePages = 0): Promise<() => Promise<void>> {
  const filler = join(pki, 'filler')
  await expect(writeFile(filler, Buffer.alloc(64 * pageBytes))).rejects.toThrow('ENOSPC')
  await truncate(filler, (await stat(filler)).size - freePages * pageBytes)
  return () => rm(filler)
}

const currentOf = async ({ pki }: Place): Promise<X509Certificate> =>
  new X509Certificate(await readFile(join(pki, 'kubelet-client-current.pem')))
const serialOf = async (at: Place): Promise<string> => (await currentOf(at)).serialNumber

const requestCount = async (): Promise<number> => {
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
  return (await plane.client.getObject<{ items: unknown[] }>(path))?.items.length ?? 0
}

describe('a full disk', () => {
  test('before the key is written: the start ends and names it; with room the next one is Ready', async (ctx) => {
    requires(ctx, { root: true })
    const at = await place(16)
    const makeRoom = await fillDisk(at)
    const before = await requestCount()
    const first = await startNode('full-a', at)
    expect(await first.ended).toBe(1)
    expect(first.output()).toMatch(/write the key .*ENOSPC/)
    expect(await requestCount()).toBe(before)
    await makeRoom()
    await startNode('full-a', at)
    await plane.becomes('full-a', 'True')
  })

  test('between the key and the certificate: the next start takes the request over', async (ctx) => {
    requires(ctx, { root: true })
    const at = await place(16)
    const makeRoom = await fillDisk(at, 1)
    const before = await requestCount()
    const first = await startNode('full-b', at)
    expect(await first.ended).toBe(1)
    expect(first.output()).toContain('ENOSPC')
    expect((await readdir(at.pki)).sort()).toEqual(['filler', 'kubelet-client.key.tmp'])
    await makeRoom()
    await startNode('full-b', at)
    await plane.becomes('full-b', 'True')
    expect((await requestCount()) - before).toBe(1)
  })

  test('at a renewal: the old pair stays in use, and with room the new one comes without a restart', async (ctx) => {
    requires(ctx, { root: true })
    const at = await place(16)
    const kubelet = await startNode('full-c', at)
    await plane.becomes('full-c', 'True')
    const serial = await serialOf(at)
    const makeRoom = await fillDisk(at)
    await kubelet.says(/the certificate was not renewed; retrying[^\n]*ENOSPC/, 150_000)
    expect(await serialOf(at)).toBe(serial)
    expect(kubelet.output()).not.toContain('a heartbeat to the API server failed')
    await makeRoom()
    await expect.poll(() => serialOf(at), { timeout: 60_000, interval: 500 }).not.toBe(serial)
    await plane.becomes('full-c', 'True')
  }, 300_000)
})

describe('a clock that is set back by an hour', () => {
  const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
  const leasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/back-a'
  const renewed = async (): Promise<string> =>
    (await plane.client.getObject<Lease>(leasePath))?.spec?.renewTime ?? ''

  test('the Lease goes forward, the certificate is renewed before it ends, and the node stays Ready', async (ctx) => {
    requires(ctx, { packages: ['clock'] })
    const at = await place()
    const offset = join(at.pki, '..', 'offset')
    await writeFile(offset, '+0\n')
    const kubelet = await startNode('back-a', at, {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: offset,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    })
    await plane.becomes('back-a', 'True')
    await expect.poll(renewed, { timeout: 30_000 }).not.toBe('')
    const first = await currentOf(at)
    await writeFile(offset, '-3600\n')
    const setAt = Date.now()
    // Lines of the log have the local time: the first one after the change is of the hour before.
    const hour = String(new Date(setAt - 3_600_000).getHours()).padStart(2, '0')
    await kubelet.says(new RegExp(`^[WI]\\d{4} ${hour}:`, 'm'), 60_000)
    let last = ''
    const serials = new Set<string>()
    // Longer than the certificate lived when the clock was set.
    for (const until = Date.parse(first.validTo) + 60_000; Date.now() < until; await sleep(5_000)) {
      const now = await renewed()
      expect(now >= last).toBe(true)
      last = now
      serials.add(await serialOf(at))
      await plane.becomes('back-a', 'True', 1_000)
    }
    expect(serials.size).toBeGreaterThan(1)
    expect(kubelet.output()).not.toContain('a heartbeat to the API server failed')
    await writeFile(offset, '+0\n')
    await sleep(15_000)
    expect((await renewed()) > last).toBe(true)
    await plane.becomes('back-a', 'True', 1_000)
  }, 400_000)
})

describe('kill -9', () => {
  test('at each step of a renewal: a pair that can be used is left, and the next start is Ready', async () => {
    const at = await place()
    await end(await waitReady('kill-a', at))
    for (const afterMs of [0, 20, 60, 120, 250, 500, 1000]) {
      const kubelet = await startNode('kill-a', at)
      await kubelet.says('asking the cluster for a new certificate', 150_000)
      await sleep(afterMs)
      await end(kubelet)
      const pair = await readFile(join(at.pki, 'kubelet-client-current.pem'), 'utf8')
      expect(pair).toMatch(/BEGIN CERTIFICATE.*END EC PRIVATE KEY/s)
    }
    const kubelet = await waitReady('kill-a', at)
    expect((await readdir(at.pki)).filter((f) => /tmp|updated/.test(f))).toEqual([])
    expect(kubelet.output()).not.toContain('tls.invalid')
  }, 900_000)

  async function waitReady(name: string, at: Place): Promise<KubeletProcess> {
    const kubelet = await startNode(name, at)
    await kubelet.says('this machine is a node of a cluster')
    await plane.becomes(name, 'True')
    return kubelet
  }
})
