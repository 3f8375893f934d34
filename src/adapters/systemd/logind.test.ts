// Against a real dbus-daemon; logind itself is in the lab's scenario node-shutdown.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { requires } from '../../../test/support/requirements.js'
import { PrivateBus } from '../../fakes/private-bus.js'
import { createLogind } from './logind.js'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
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
