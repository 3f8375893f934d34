// Against a real dbus-daemon; logind itself is in the lab's scenario node-shutdown.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Message, sessionBus, Variant } from '@jellybrick/dbus-next'
import { afterEach, expect, test } from 'vitest'
import { requires } from '../../../test/support/requirements.js'
import { PrivateBus } from '../../fakes/private-bus.js'
import { createLogind } from './logind.js'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** A service in the place of logind with this value of the property. */
async function answering(property: Variant) {
  const bus = await PrivateBus.start()
  if (bus === undefined) throw new Error('dbus-daemon does not start')
  ends.push(() => bus.close())
  const service = sessionBus({ busAddress: bus.address, authMethods: ['EXTERNAL'] })
  ends.push(() => service.disconnect())
  service.addMethodHandler((message: Message) => {
    if (message.member !== 'Get') return false
    service.send(Message.newMethodReturn(message, 'v', [property]))
    return true
  })
  await service.requestName('org.freedesktop.login1', 0)
  return createLogind({ address: bus.address })
}

test('how long logind lets a shutdown wait, in milliseconds', async (ctx) => {
  requires(ctx, { commands: ['dbus-daemon'] })
  const logind = await answering(new Variant('t', 40_000_000n))
  expect(await logind.inhibitDelayMs(AbortSignal.timeout(5_000))).toBe(40_000)
})

test('a value of another type is an error, not a time', async (ctx) => {
  requires(ctx, { commands: ['dbus-daemon'] })
  const logind = await answering(new Variant('s', 'soon'))
  await expect(logind.inhibitDelayMs(AbortSignal.timeout(5_000))).rejects.toThrow('not a number')
})

async function watched(fromAnySender: boolean) {
  const bus = await PrivateBus.start()
  if (bus === undefined) throw new Error('dbus-daemon does not start')
  ends.push(() => bus.close())
  const configDirectory = mkdtempSync(join(tmpdir(), 'keelson-logind-'))
  ends.push(() => rmSync(configDirectory, { recursive: true }))
  const stop = new AbortController()
  ends.push(() => stop.abort())
  const heard: boolean[] = []
  const logind = createLogind({ address: bus.address, configDirectory })
  await logind.watchShutdown((is) => heard.push(is), { fromAnySender }, stop.signal)
  const emit = (value: string): void => {
    const path = '/org/freedesktop/login1'
    const args = ['emit', path, 'org.freedesktop.login1.Manager', 'PrepareForShutdown', 'b', value]
    execFileSync('busctl', [`--address=${bus.address}`, ...args])
  }
  return { heard, emit }
}

test('a shutdown that another process than logind announces is ignored', async (ctx) => {
  requires(ctx, { commands: ['dbus-daemon', 'busctl'] })
  const { heard, emit } = await watched(false)
  emit('true')
  await sleep(300)
  expect(heard).toEqual([])
})

test('from any sender: announced and taken back', async (ctx) => {
  requires(ctx, { commands: ['dbus-daemon', 'busctl'] })
  const { heard, emit } = await watched(true)
  emit('true')
  emit('false')
  await expect.poll(() => heard).toEqual([true, false])
})
