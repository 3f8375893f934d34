import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { HandlerSetting } from '../../core/driver/evidence.js'
import type { SandboxCgroup } from '../../core/driver/proof.js'
import { type DriverFacts, decideRuntimeDriver } from './decide.js'

const id = 'a'.repeat(64)
const sandbox = (path: string): SandboxCgroup => ({ id, pod: 'default/web', path })
const inSlice = sandbox(`/kubepods.slice/kubepods-pod1.slice/cri-containerd-${id}.scope`)
const inDirectory = sandbox(`/kubepods/burstable/pod1/${id}`)
const misplaced = sandbox(`/system.slice/kubepods-pod1.slice:cri-containerd:${id}`)
const elsewhere = sandbox('/system.slice/other.service')
const handler = (name: string, driver: HandlerSetting['driver']): HandlerSetting => ({
  name,
  driver,
  isDefault: false,
})
const stated = (isAsLoaded: boolean, ...handlers: HandlerSetting[]) => ({
  from: 'Status',
  handlers,
  isAsLoaded,
})
const nothing: DriverFacts = { operator: undefined, stated: undefined, silent: undefined, sandboxes: [] }

interface Row {
  readonly name: string
  readonly facts: Partial<DriverFacts>
  readonly driver?: string
  readonly reason?: RegExp
  readonly warning?: RegExp
}

describe('decideRuntimeDriver', () => {
  const rows: readonly Row[] = [
    { name: 'the operator says so', facts: { operator: 'systemd' }, driver: 'systemd' },
    {
      name: 'the operator stands against everything else, with a warning',
      facts: {
        operator: 'systemd',
        stated: stated(true, handler('runc', 'cgroupfs')),
        sandboxes: [inDirectory],
      },
      driver: 'systemd',
      warning: /Status says runc cgroupfs; running sandboxes show cgroupfs: default\/web/,
    },
    { name: 'Status alone', facts: { stated: stated(true, handler('runc', 'systemd')) }, driver: 'systemd' },
    {
      name: 'Status, confirmed',
      facts: { stated: stated(true, handler('runc', 'cgroupfs')), sandboxes: [inDirectory, elsewhere] },
      driver: 'cgroupfs',
    },
    {
      name: 'a handler without a driver does not count',
      facts: { stated: stated(true, handler('kata', undefined), handler('runc', 'systemd')) },
      driver: 'systemd',
    },
    {
      name: 'Status against sandboxes',
      facts: { stated: stated(true, handler('runc', 'systemd')), sandboxes: [inSlice, inDirectory] },
      reason:
        /Status says systemd, but running sandboxes show cgroupfs: default\/web aaaaaaaaaaaaa at \/kubepods/,
    },
    {
      name: 'a unit name used as a directory shows a cgroupfs runtime',
      facts: { stated: stated(true, handler('runc', 'systemd')), sandboxes: [misplaced] },
      reason: /show cgroupfs/,
    },
    {
      name: 'handlers differ',
      facts: { stated: stated(true, handler('runc', 'systemd'), handler('old', 'cgroupfs')) },
      reason: /differ: runc systemd, old cgroupfs/,
    },
    {
      name: 'only virtual machines',
      facts: { stated: stated(true, handler('kata', undefined)) },
      reason: /no handler/,
    },
    {
      name: 'a file that may have changed, unconfirmed',
      facts: { stated: stated(false, handler('runc', 'systemd')), sandboxes: [elsewhere] },
      reason: /may not be what the runtime has loaded/,
    },
    {
      name: 'a file that may have changed, confirmed',
      facts: { stated: stated(false, handler('runc', 'systemd')), sandboxes: [inSlice] },
      driver: 'systemd',
    },
    {
      name: 'sandboxes alone are no answer',
      facts: { silent: 'no Status', sandboxes: [inSlice] },
      reason: /no Status/,
    },
  ]
  for (const { name, facts, driver, reason, warning } of rows)
    test(name, () => {
      const found = decideRuntimeDriver({ ...nothing, ...facts })
      if (found.kind === 'known') {
        assert.equal(found.driver, driver)
        assert.match(found.warning ?? '', warning ?? /^$/)
      } else assert.match(found.reason, reason ?? /^(?!)/)
      assert.equal(found.kind, driver === undefined ? 'unknown' : 'known')
    })
})
