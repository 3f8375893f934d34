// RuntimeConfig and Status through the server: what a runtime without them gets, from which source, and when not.
import assert from 'node:assert/strict'
import type { ClientHttp2Session } from 'node:http2'
import { afterEach, describe, expect, test } from 'vitest'
import { createCriClient } from '../../src/adapters/cri/client.js'
import { parseToml } from '../../src/adapters/cri/server-toml.js'
import { isKeelsonError } from '../../src/core/errors.js'
import { CgroupDriver } from '../../src/cri-api/api.js'
import { createDriverFinder, type DriverFinderOptions } from '../../src/criserver/driver/find.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { unknownField } from '../../src/fakes/cri/shapes.js'
import { FakeLog } from '../../src/fakes/log.js'
import type { FileEntry } from '../../src/ports/files.js'
import { frame, openSession, type RawAnswer, rawCall, withoutDate } from './raw-client.js'
import { startServerBed } from './server-bed.js'

const closers: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** An empty request; two answers may lie on both sides of a second. */
const ask = async (session: ClientHttp2Session, path: string): Promise<RawAnswer> =>
  withoutDate(await rawCall(session, path, frame(Buffer.alloc(0))))

const id = 'b'.repeat(64)
const paths = {
  systemd: `/kubepods.slice/kubepods-podx.slice/cri-containerd-${id}.scope`,
  cgroupfs: `/kubepods/podx/${id}`,
}

interface Case {
  readonly scripts?: Scripts
  readonly operator?: 'systemd' | 'cgroupfs'
  readonly files?: Readonly<Record<string, string>>
  /** Seconds; the runtime's socket is of second 100. */
  readonly changedAt?: number
  readonly sandbox?: keyof typeof paths
}

const withSandbox: Scripts = {
  ListPodSandbox: { value: { items: [{ id, metadata: { name: 'web', namespace: 'default' } }] } },
  PodSandboxStatus: { value: { status: { id }, info: { info: '{"pid":4711}' } } },
}

async function start(c: Case) {
  const runtime = await startFakeRuntime({
    Version: { value: { runtimeName: 'containerd', runtimeVersion: '1.6.20' } },
    Status: { value: { status: {} } },
    ListPodSandbox: { value: {} },
    ...(c.sandbox === undefined ? {} : withSandbox),
    ...c.scripts,
  })
  closers.push(() => runtime.close())
  const client = createCriClient(runtime.endpoint)
  closers.push(() => client.close())
  const files = c.files ?? {}
  const log = new FakeLog()
  const options: DriverFinderOptions = {
    client,
    operator: c.operator,
    configFile: undefined,
    files: {
      read: async (path) => (files[path] === undefined ? undefined : Buffer.from(files[path])),
      list: async (dir) =>
        Object.keys(files)
          .filter((f) => f.startsWith(`${dir}/`))
          .sort()
          .map(
            (path): FileEntry => ({
              path,
              name: path.slice(dir.length + 1),
              size: 1n,
              mtimeNanos: 1n,
              inode: 1n,
            }),
          ),
    },
    mtimeNanos: (path) => (path === runtime.socketPath ? 100n : undefined),
    changedNanos: () => BigInt(c.changedAt ?? 50),
    parseToml,
    procfs: {
      cgroupOf: (pid) =>
        pid === 4711 ? { unified: paths[c.sandbox ?? 'systemd'], controllers: new Map() } : undefined,
    },
    cgroupVersion: 'v2',
    log,
  }
  const bed = await startServerBed(runtime.endpoint, {
    services: {
      findDriver: createDriverFinder(options),
      log,
      metricsUrl: () => 'https://127.0.0.1:10252/metrics',
    },
  })
  closers.push(() => bed.close())
  const through = createCriClient(bed.endpoint)
  closers.push(() => through.close())
  return { runtime, bed, log, through }
}

const infoConfig = (runtimes: object, name = 'runc'): Scripts => ({
  Status: {
    value: {
      status: {},
      info: { config: JSON.stringify({ containerd: { defaultRuntimeName: name, runtimes } }) },
    },
  },
})
const runc = (SystemdCgroup: boolean) => ({
  runtimeType: 'io.containerd.runc.v2',
  options: { SystemdCgroup },
})
const v2 = (systemd: boolean, more = '') => `version = 2
${more}
[plugins."io.containerd.grpc.v1.cri".containerd]
  default_runtime_name = "runc"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = ${systemd}
`
const v3 = (systemd: boolean) => `version = 3
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'
options = { BinaryName = '', SystemdCgroup = ${systemd} }
`
const containerdFile = '/etc/containerd/config.toml'
const crio: Scripts = { Version: { value: { runtimeName: 'cri-o', runtimeVersion: '1.27.0' } } }

const answers: readonly (Case & { readonly name: string; readonly driver: CgroupDriver })[] = [
  { name: 'the operator', operator: 'systemd', driver: CgroupDriver.SYSTEMD },
  { name: 'Status: systemd', scripts: infoConfig({ runc: runc(true) }), driver: CgroupDriver.SYSTEMD },
  {
    name: 'Status: cgroupfs, confirmed',
    scripts: infoConfig({ runc: runc(false) }),
    sandbox: 'cgroupfs',
    driver: CgroupDriver.CGROUPFS,
  },
  {
    name: 'a containerd file, version 2',
    files: { [containerdFile]: v2(true) },
    driver: CgroupDriver.SYSTEMD,
  },
  {
    name: 'a containerd file, version 3',
    files: { [containerdFile]: v3(true) },
    driver: CgroupDriver.SYSTEMD,
  },
  {
    name: 'a containerd file that names no handler',
    files: { [containerdFile]: 'version = 2\n' },
    driver: CgroupDriver.CGROUPFS,
  },
  {
    name: 'an imported containerd file',
    files: {
      [containerdFile]: 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n',
      '/etc/containerd/conf.d/10.toml': v2(true),
      '/etc/containerd/conf.d/20.json': 'not read',
    },
    driver: CgroupDriver.SYSTEMD,
  },
  {
    name: 'a file changed since, confirmed by a sandbox',
    files: { [containerdFile]: v2(true) },
    changedAt: 200,
    sandbox: 'systemd',
    driver: CgroupDriver.SYSTEMD,
  },
  {
    name: 'CRI-O: its default',
    scripts: crio,
    files: { '/etc/crio/crio.conf': '' },
    driver: CgroupDriver.SYSTEMD,
  },
  {
    name: 'CRI-O: a later drop-in wins',
    scripts: crio,
    files: {
      '/etc/crio/crio.conf': '[crio.runtime]\ncgroup_manager = "systemd"\n',
      '/etc/crio/crio.conf.d/10-x.conf': '[crio.runtime]\ncgroup_manager = "cgroupfs"\n',
      '/etc/crio/crio.conf.d/20-y.conf': '[crio.image]\npause_image = "x"\n',
    },
    driver: CgroupDriver.CGROUPFS,
  },
]

const refusals: readonly (Case & { readonly name: string; readonly says: RegExp })[] = [
  {
    name: 'Status against a sandbox',
    scripts: infoConfig({ runc: runc(true) }),
    sandbox: 'cgroupfs',
    says: /Status of containerd says systemd, but .* cgroupfs/,
  },
  {
    name: 'handlers differ',
    scripts: infoConfig({ runc: runc(true), crun: runc(false) }),
    says: /runc systemd, crun cgroupfs/,
  },
  {
    name: 'files differ',
    files: {
      [containerdFile]: v2(true, 'imports = ["extra.toml"]'),
      '/etc/containerd/extra.toml': v2(false),
    },
    says: /differ/,
  },
  {
    name: 'a file changed since, unconfirmed',
    files: { [containerdFile]: v2(true) },
    changedAt: 200,
    says: /may not be what the runtime has loaded/,
  },
  { name: 'no file', says: /there is no \/etc\/containerd\/config.toml/ },
  {
    name: 'a file of version 1',
    files: { [containerdFile]: '[plugins.cri]\n' },
    says: /version 1 is not known/,
  },
  { name: 'a file that is no TOML', files: { [containerdFile]: 'version = = 2' }, says: /read TOML/ },
  {
    name: 'a runtime that nobody knows',
    scripts: { Version: { value: { runtimeName: 'other' } } },
    says: /not known here/,
  },
  {
    name: 'CRI-O with a strange word',
    scripts: crio,
    files: { '/etc/crio/crio.conf': '[crio.runtime]\ncgroup_manager = "both"\n' },
    says: /"both"/,
  },
]

describe('RuntimeConfig of a runtime that answers UNIMPLEMENTED', () => {
  for (const { name, driver, ...c } of answers)
    test(`answered: ${name}`, async () => {
      const { through, bed } = await start(c)
      assert.equal((await through.runtime.runtimeConfig({})).linux?.cgroupDriver, driver)
      const row = () => bed.table.rows().find((r) => r.rpc === 'RuntimeConfig')
      await expect.poll(() => [row()?.answered, row()?.missing]).toEqual([1, 1])
    })

  for (const { name, says, ...c } of refusals)
    test(`passed on, with an error that names why: ${name}`, async () => {
      const { through, log, runtime, bed } = await start(c)
      const error = await through.runtime.runtimeConfig({}).catch((e: unknown) => e)
      assert.ok(isKeelsonError(error) && error.code === 'runtime.unimplemented', String(error))
      const line = log.lines.find((l) => l.level === 'error')
      assert.match(String(line?.fields.reason), says)
      const direct = await openSession(runtime.socketPath)
      const via = await openSession(bed.socketPath)
      const path = '/runtime.v1.RuntimeService/RuntimeConfig'
      assert.deepEqual(await ask(via, path), await ask(direct, path))
      direct.destroy()
      via.destroy()
    })

  test('a runtime that answers is left alone, unknown fields and numbers included', async () => {
    const said = [
      { value: { linux: { cgroupDriver: 7 } } },
      { value: {} },
      { value: { linux: {} }, appendBytes: unknownField },
      { code: 'INTERNAL', message: 'broken' },
      { code: 'UNAVAILABLE', message: 'not yet' },
    ] as const
    const { runtime, bed } = await start({
      operator: 'systemd',
      scripts: { RuntimeConfig: said.flatMap((s) => [s, s]) },
    })
    const direct = await openSession(runtime.socketPath)
    const via = await openSession(bed.socketPath)
    const path = '/runtime.v1.RuntimeService/RuntimeConfig'
    for (let i = 0; i < said.length; i++) {
      const expected = await ask(direct, path)
      assert.deepEqual(await ask(via, path), expected)
    }
    direct.destroy()
    via.destroy()
  })
})

describe('Status', () => {
  test('verbose: one entry more, everything else kept byte by byte', async () => {
    const { through, runtime, bed } = await start({
      scripts: {
        Status: {
          value: {
            status: { conditions: [{ type: 'RuntimeReady', status: true }] },
            info: { config: '{}', x: 'y' },
          },
          appendBytes: unknownField,
        },
      },
      operator: 'cgroupfs',
    })
    const { info, status } = await through.runtime.status({ verbose: true })
    assert.equal(info.x, 'y')
    assert.equal(status?.conditions[0]?.type, 'RuntimeReady')
    const ours = JSON.parse(info.keelson ?? '{}') as Record<string, unknown>
    assert.equal(ours.cgroupDriver, 'cgroupfs')
    assert.equal(ours.cgroupDriverSource, 'operator')
    assert.equal(ours.metricsUrl, 'https://127.0.0.1:10252/metrics')
    const direct = await openSession(runtime.socketPath)
    const via = await openSession(bed.socketPath)
    const path = '/runtime.v1.RuntimeService/Status'
    const plain = await rawCall(direct, path, frame(Buffer.from([8, 1])))
    const more = await rawCall(via, path, frame(Buffer.from([8, 1])))
    assert.deepEqual(more.body.subarray(5, plain.body.length), plain.body.subarray(5))
    assert.deepEqual(await ask(via, path), await ask(direct, path), 'not verbose: untouched')
    direct.destroy()
    via.destroy()
  })
})

describe('Status of a runtime that answers RuntimeConfig itself', () => {
  const entry = async (c: Case): Promise<Record<string, unknown>> => {
    const { through } = await start(c)
    const { info } = await through.runtime.status({ verbose: true })
    return JSON.parse(info.keelson ?? '{}') as Record<string, unknown>
  }
  const says = (cgroupDriver: CgroupDriver): Scripts => ({
    RuntimeConfig: { value: { linux: { cgroupDriver } } },
  })

  test('shows what it answers, although its configuration is not known', async () => {
    const shown = await entry({ scripts: { ...crio, ...says(CgroupDriver.CGROUPFS) } })
    assert.equal(shown.cgroupDriver, 'cgroupfs')
    assert.equal(shown.cgroupDriverSource, 'RuntimeConfig of the runtime')
  })

  test('shows what it answers and not what was set, and says so', async () => {
    const shown = await entry({ operator: 'cgroupfs', scripts: says(CgroupDriver.SYSTEMD) })
    assert.equal(shown.cgroupDriver, 'systemd')
    assert.match(String(shown.cgroupDriverWarning), /cgroupfs was set, but the runtime answers for itself/)
  })

  test('shows none where the answer has none', async () => {
    const shown = await entry({
      scripts: { ...infoConfig({ runc: runc(true) }), RuntimeConfig: { value: {} } },
    })
    assert.equal(shown.cgroupDriver, null)
    assert.match(String(shown.cgroupDriverSource), /RuntimeConfig of the runtime gave no driver/)
  })
})

test('observe mode changes nothing and writes down what is missing', async () => {
  const runtime = await startFakeRuntime({ Version: { value: { runtimeName: 'containerd' } } })
  closers.push(() => runtime.close())
  const bed = await startServerBed(runtime.endpoint, {
    services: {
      mode: 'observe',
      findDriver: async () => ({ kind: 'known', driver: 'systemd', source: 'test', evidence: [] }),
    },
  })
  closers.push(() => bed.close())
  const through = createCriClient(bed.endpoint)
  closers.push(() => through.close())
  const error = await through.runtime.runtimeConfig({}).catch((e: unknown) => e)
  assert.ok(isKeelsonError(error) && error.code === 'runtime.unimplemented')
  await through.runtime.listMetricDescriptors({}).catch(() => {})
  await through.runtime.version({})
  const rows = () =>
    Object.fromEntries(bed.table.rows().map((r) => [r.rpc, [r.forwarded, r.answered, r.missing]]))
  await expect
    .poll(rows)
    .toEqual({ RuntimeConfig: [1, 0, 1], ListMetricDescriptors: [1, 0, 1], Version: [1, 0, 0] })
})
