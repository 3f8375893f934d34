// The Debian package as an administrator uses it: install, start units, upgrade with running pods, run `up`, purge. The machine is
// afterwards as it was: no file, no unit, no process, no value in a cgroup.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { createCriClient } from '../../../src/adapters/cri/client/client.js'
import { imageReferences } from '../../../src/lab/images/images.js'
import { startApiStub } from '../../memory-qos/api-stub.js'
import type { Check } from '../../support/check.js'
import { apiPort, serviceAccount, startApiServer } from './cluster-stand-in.js'
import { endpoint } from './pod.js'
import { start, until } from './program.js'

const deb = (): string => process.env['KEELSON_DEB'] ?? ''
const socket = 'unix:///run/keelson/cri.sock'
const units = ['keelson-kubelet', 'keelson-cri', 'keelson-companion']

const run = (...argv: readonly string[]): string => {
  const [command = '', ...args] = argv
  const ran = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  assert.equal(ran.status, 0, `${argv.join(' ')} ended with ${ran.status}:\n${ran.stdout}${ran.stderr}`)
  return ran.stdout
}
const journal = (): string =>
  units.map((u) => run('journalctl', '--no-pager', '-n', '40', '-u', u)).join('\n')
const property = (unit: string, name: string): string => run('systemctl', 'show', '-P', name, unit).trim()
const mainPid = (unit: string): number => Number(property(unit, 'MainPID'))

/** Everything on the machine's own files; logs, dpkg's own notes and what the runtime's network plugins keep are not the package's. */
const files = (): string[] =>
  run(
    'find',
    '/',
    '-xdev',
    '(',
    ...[
      '/proc',
      '/var/lib/dpkg',
      '/var/lib/cni',
      '/var/log',
      '/tmp',
      '/var/tmp',
      process.env['LAB_OUT'] ?? '/out',
    ].flatMap((path, i) => [...(i === 0 ? [] : ['-o']), '-path', path]),
    ')',
    '-prune',
    '-o',
    '-print',
  )
    .split('\n')
    .sort()

async function containers(): Promise<readonly string[]> {
  const client = createCriClient(endpoint(), { timeoutMs: 60_000 })
  try {
    const { containers: list } = await client.runtime.listContainers({})
    return list.map((c) => `${c.metadata?.name} ${c.id} ${c.metadata?.attempt} ${c.state}`).sort()
  } finally {
    client.close()
  }
}

const web = '/etc/keelson/manifests/web.yaml'
const slices = '/sys/fs/cgroup/kubepods.slice'
const containerScope = (): string => {
  const found = readdirSync(slices, { recursive: true, encoding: 'utf8' })
    .filter((path) => /cri-containerd-[0-9a-f]+\.scope$/.test(path))
    .find((path) => readFileSync(`${slices}/${path}/memory.max`, 'utf8').trim() !== 'max')
  assert.ok(found, 'no container has a limit')
  return `${slices}/${found}`
}
const values = (): string[] =>
  ['memory.min', 'memory.low', 'memory.high'].map((f) =>
    readFileSync(`${containerScope()}/${f}`, 'utf8').trim(),
  )

let before: readonly string[] = []
let running: readonly string[] = []
let first: readonly string[] = []
const timeoutMs = 1_200_000

export const checks: readonly Check[] = [
  {
    name: 'PKG-10 install: the command runs with its own Node, no unit is enabled or started',
    timeoutMs,
    run() {
      run('cp', process.env['LAB_BUSYBOX'] ?? '', '/usr/bin/busybox')
      before = files()
      run('dpkg', '-i', deb())
      assert.match(run('/usr/bin/keelson', '--version'), /^\d+\.\d+\.\d+/)
      for (const unit of units) {
        assert.equal(property(unit, 'UnitFileState'), 'disabled', unit)
        assert.equal(property(unit, 'ActiveState'), 'inactive', unit)
      }
      run('systemd-analyze', 'verify', ...units.map((u) => `/usr/lib/systemd/system/${u}.service`))
    },
  },
  {
    name: 'PKG-11 keelson up of the package: a node on the runtime that is there, gone with its end',
    timeoutMs,
    async run() {
      const pods = '/tmp/up-pods'
      execFileSync('mkdir', ['-p', pods])
      writeFileSync(
        `${pods}/own.yaml`,
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'own' },
          spec: {
            terminationGracePeriodSeconds: 1,
            containers: [
              { name: 'main', image: imageReferences.busybox, args: ['/bin/sh', '-c', 'sleep 100000'] },
            ],
          },
        }),
      )
      const up = start(['/usr/bin/keelson', 'up', '--container-runtime-endpoint', endpoint(), '--pods', pods])
      await up.says('node ready after')
      assert.match(up.output(), /1 of 1 pods running/)
      up.child.kill('SIGINT')
      assert.equal(await up.ended(), 0, up.output())
      assert.deepEqual(await containers(), [])
    },
  },
  {
    name: 'PKG-12 keelson-cri and keelson-kubelet start by their units and run a pod of /etc/keelson/manifests',
    timeoutMs,
    async run() {
      run('systemctl', 'start', 'keelson-cri')
      assert.equal(readlinkSync(`/proc/${mainPid('keelson-cri')}/exe`), '/usr/lib/keelson/node')
      const config = readFileSync('/etc/keelson/kubelet.yaml', 'utf8')
      writeFileSync(
        '/etc/keelson/kubelet.yaml',
        config
          .replace('unix:///run/containerd/containerd.sock', socket)
          // The companion is to be the one that writes values.
          .replace('MemoryQoS: true', 'MemoryQoS: false')
          .replace(/^memoryReservationPolicy.*\n/m, ''),
      )
      writeFileSync(
        web,
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'web' },
          spec: {
            terminationGracePeriodSeconds: 2,
            containers: [
              {
                name: 'app',
                image: imageReferences.busybox,
                command: ['/bin/sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1 & wait $!; done'],
                resources: { requests: { memory: '32Mi' }, limits: { memory: '96Mi' } },
              },
            ],
          },
        }),
      )
      run('systemctl', 'start', 'keelson-kubelet')
      running = await until(
        'the container runs',
        async () => {
          const all = await containers()
          return all.length === 1 && all[0]?.endsWith(' 1') ? all : undefined
        },
        journal,
      )
      const shown = await until('get pods', () => {
        const text = run('keelson', 'get', 'pods', '--root-dir', '/var/lib/keelson/kubelet')
        return text.includes('Running') ? text : undefined
      })
      assert.match(shown, /web-/)
      first = values()
    },
  },
  {
    name: 'PKG-13 an upgrade restarts what runs, keeps edited configuration, and restarts no container',
    timeoutMs,
    async run() {
      assert.ok(first.length > 0, 'an earlier check failed')
      const active = ['keelson-cri', 'keelson-kubelet']
      const pids = active.map(mainPid)
      run('dpkg', '-i', deb())
      for (const [i, unit] of active.entries()) {
        assert.equal(property(unit, 'ActiveState'), 'active', `${unit}\n${journal()}`)
        assert.notEqual(mainPid(unit), pids[i], unit)
      }
      assert.equal(property('keelson-companion', 'ActiveState'), 'inactive')
      assert.match(readFileSync('/etc/keelson/kubelet.yaml', 'utf8'), /run\/keelson\/cri\.sock/)
      await until(
        'the kubelet has taken its pod over',
        () =>
          run('keelson', 'get', 'pods', '--root-dir', '/var/lib/keelson/kubelet').includes('Running')
            ? true
            : undefined,
        journal,
      )
      assert.deepEqual(await containers(), running)
    },
  },
  {
    name: "PKG-14 keelson-companion starts by its unit, with the kubelet's files of a cluster, and writes values",
    timeoutMs,
    async run() {
      assert.ok(first.length > 0, 'an earlier check failed')
      // A Keelson kubelet keeps Memory QoS itself, on or off; the companion is for nodes of another one.
      run('systemctl', 'stop', 'keelson-kubelet')
      const uid = /pod([0-9a-f]{32})/.exec(containerScope())?.[1] ?? ''
      const api = await startApiStub()
      await startApiServer(api)
      api.put('mirror', {
        metadata: {
          name: `web-${readFileSync('/etc/hostname', 'utf8').trim()}`,
          namespace: 'default',
          uid: 'mirror',
          annotations: { 'kubernetes.io/config.mirror': uid, 'kubernetes.io/config.source': 'file' },
          ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'lab-node', uid: 'n', controller: true }],
        },
        spec: {
          nodeName: 'lab-node',
          containers: [
            { name: 'app', resources: { requests: { memory: '32Mi' }, limits: { memory: '96Mi' } } },
          ],
        },
        status: { phase: 'Running', qosClass: 'Burstable' },
      })
      const cluster = {
        server: `https://127.0.0.1:${apiPort}`,
        'certificate-authority': `${serviceAccount}/ca.crt`,
      }
      execFileSync('mkdir', ['-p', '/etc/kubernetes', '/var/lib/kubelet'])
      writeFileSync(
        '/etc/kubernetes/kubelet.conf',
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Config',
          clusters: [{ name: 'c', cluster }],
          users: [{ name: 'u', user: { token: 'none' } }],
          contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
          'current-context': 'x',
        }),
      )
      writeFileSync(
        '/var/lib/kubelet/config.yaml',
        'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncgroupDriver: systemd\n',
      )
      const config = readFileSync('/etc/keelson/config.yaml', 'utf8')
      writeFileSync('/etc/keelson/config.yaml', config.replaceAll(/^#(companion:| {2}memory)/gm, '$1'))
      run('systemctl', 'start', 'keelson-companion')
      // 32Mi + 0.9 x 64Mi in whole pages.
      await until('values of web', () => (values()[2] === '93949952' ? true : undefined), journal)
    },
  },
  {
    name: 'PKG-15 purge: values restored, services gone, and not one file is left',
    timeoutMs,
    async run() {
      assert.ok(first.length > 0, 'an earlier check failed')
      assert.notDeepEqual(values(), first)
      const scope = containerScope()
      run('dpkg', '--remove', 'keelson')
      assert.deepEqual(
        ['memory.min', 'memory.low', 'memory.high'].map((f) => readFileSync(`${scope}/${f}`, 'utf8').trim()),
        first,
      )
      // Configuration stays after a removal, so the kubelet can end its pod when it is back.
      run('dpkg', '-i', deb())
      run('systemctl', 'start', 'keelson-cri', 'keelson-kubelet')
      rmSync(web)
      await until(
        'the pod has gone',
        async () => ((await containers()).length === 0 ? true : undefined),
        journal,
      )
      for (const path of ['/etc/kubernetes', '/var/lib/kubelet']) rmSync(path, { recursive: true })
      run('dpkg', '--purge', 'keelson')
      for (const unit of units) assert.equal(property(unit, 'LoadState'), 'not-found', unit)
      const left = files()
      assert.deepEqual(
        left.filter((path) => !before.includes(path)),
        [],
      )
      assert.deepEqual(
        readdirSync('/run').filter((name) => name === 'keelson'),
        [],
      )
    },
  },
]
