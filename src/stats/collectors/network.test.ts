// Which interfaces of a pod count.
import { expect, test } from 'vitest'
import { networkValues } from './network.js'

test('interfaces: no loopback, no ends of pairs; eth0 or the first is the default', () => {
  const dev = (name: string) => ({
    name,
    rxBytes: 0n,
    rxPackets: 0n,
    rxErrors: 0n,
    rxDropped: 0n,
    txBytes: 0n,
    txPackets: 0n,
    txErrors: 0n,
    txDropped: 0n,
  })
  const pick = (...names: string[]) => picked(names)
  const picked = (names: readonly string[], asCadvisor?: boolean) => {
    const context = asCadvisor === undefined ? {} : { asCadvisor }
    const { defaultInterface, others } = networkValues(names.map(dev), context)
    return [defaultInterface?.name, others.map((o) => o.name)]
  }
  expect(pick('lo', 'net1', 'eth0', 'veth12', 'docker0')).toEqual(['eth0', ['net1']])
  expect(pick('lo', 'ens3', 'net1')).toEqual(['ens3', ['net1']])
  expect(pick('lo')).toEqual([undefined, []])
  expect(picked(['lo', 'ens3', 'net1'], true)).toEqual([undefined, ['ens3', 'net1']])
})
