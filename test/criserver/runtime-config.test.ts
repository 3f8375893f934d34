// RuntimeConfig through the server: what a runtime without it gets, from which source, and when not.
import assert from 'node:assert/strict'
import { afterEach, describe, expect, test } from 'vitest'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { isKeelsonError } from '../../src/core/errors.js'
import { CgroupDriver } from '../../src/cri-api/api.js'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { unknownField } from '../../src/fakes/cri/shapes.js'
import {
  ask,
  closeAll,
  closers,
  crio,
  type DriverCase,
  infoConfig,
  runc,
  startWithDriver,
} from './driver-fixture.js'
import { openSession } from './raw-client.js'
import { startServerFixture } from './server-fixture.js'

afterEach(closeAll)

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
const answers: readonly (DriverCase & { readonly name: string; readonly driver: CgroupDriver })[] = [
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

const refusals: readonly (DriverCase & { readonly name: string; readonly says: RegExp })[] = [
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
    says: /version 1 is not supported/,
  },
  { name: 'a file that is no TOML', files: { [containerdFile]: 'version = = 2' }, says: /read TOML/ },
  {
    name: 'a runtime that is not known',
    scripts: { Version: { value: { runtimeName: 'other' } } },
    says: /configuration file is unknown/,
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
      const { through, fixture } = await startWithDriver(c)
      assert.equal((await through.runtime.runtimeConfig({})).linux?.cgroupDriver, driver)
      const row = () => fixture.table.rows().find((r) => r.rpc === 'RuntimeConfig')
      await expect.poll(() => [row()?.answered, row()?.missing]).toEqual([1, 1])
    })

  for (const { name, says, ...c } of refusals)
    test(`passed on, with an error that names why: ${name}`, async () => {
      const { through, log, runtime, fixture } = await startWithDriver(c)
      const error = await through.runtime.runtimeConfig({}).catch((e: unknown) => e)
      assert.ok(isKeelsonError(error) && error.code === 'runtime.unimplemented', String(error))
      const line = log.lines.find((l) => l.level === 'error')
      assert.match(String(line?.fields.reason), says)
      const direct = await openSession(runtime.socketPath)
      const via = await openSession(fixture.socketPath)
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
    const { runtime, fixture } = await startWithDriver({
      operator: 'systemd',
      scripts: { RuntimeConfig: said.flatMap((s) => [s, s]) },
    })
    const direct = await openSession(runtime.socketPath)
    const via = await openSession(fixture.socketPath)
    const path = '/runtime.v1.RuntimeService/RuntimeConfig'
    for (let i = 0; i < said.length; i++) {
      const expected = await ask(direct, path)
      assert.deepEqual(await ask(via, path), expected)
    }
    direct.destroy()
    via.destroy()
  })
})

test('observe mode changes nothing and writes down what is missing', async () => {
  const runtime = await startFakeRuntime({ Version: { value: { runtimeName: 'containerd' } } })
  closers.push(() => runtime.close())
  const fixture = await startServerFixture(runtime.endpoint, {
    services: {
      mode: 'observe',
      findDriver: async () => ({ kind: 'known', driver: 'systemd', source: 'test', evidence: [] }),
    },
  })
  closers.push(() => fixture.close())
  const through = createCriClient(fixture.endpoint)
  closers.push(() => through.close())
  const error = await through.runtime.runtimeConfig({}).catch((e: unknown) => e)
  assert.ok(isKeelsonError(error) && error.code === 'runtime.unimplemented')
  await through.runtime.listMetricDescriptors({}).catch(() => {})
  await through.runtime.version({})
  const rows = () =>
    Object.fromEntries(fixture.table.rows().map((r) => [r.rpc, [r.forwarded, r.answered, r.missing]]))
  await expect
    .poll(rows)
    .toEqual({ RuntimeConfig: [1, 0, 1], ListMetricDescriptors: [1, 0, 1], Version: [1, 0, 0] })
})
