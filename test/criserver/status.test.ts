// Status through the server: one entry more, which shows the driver and where it is from.
import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'vitest'
import { CgroupDriver } from '../../src/cri-api/api.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { unknownField } from '../../src/fakes/cri/shapes.js'
import { ask, closeAll, crio, type DriverCase, infoConfig, runc, startWithDriver } from './driver-fixture.js'
import { frame, openSession, rawCall } from './raw-client.js'

afterEach(closeAll)

describe('Status', () => {
  test('verbose: one entry more, everything else kept byte by byte', async () => {
    const { through, runtime, fixture } = await startWithDriver({
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
    const via = await openSession(fixture.socketPath)
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
  const entry = async (c: DriverCase): Promise<Record<string, unknown>> => {
    const { through } = await startWithDriver(c)
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
