// Logs as they are read while they are rotated: real files, renamed as the kubelet and the runtime do it.
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createClock } from '../../adapters/clock/clock.js'
import { createPodHost } from '../../adapters/pods/pod-host.js'
import type { LogRequest } from '../../serve/endpoints/container-logs.js'
import { nothingObserved, type ObservedContainer, type ObservedPod } from '../pods/decide/observed.js'
import { readContainerLog } from './read-log.js'

let dir = ''
let log = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-readlog-'))
  mkdirSync(join(dir, 'default_web_1/app'), { recursive: true })
  log = join(dir, 'default_web_1/app/0.log')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const line = (text: string): string => `2026-01-02T03:04:05Z stdout F ${text}\n`
const request: LogRequest = {
  namespace: 'default',
  pod: 'web',
  container: 'app',
  follow: false,
  previous: false,
  timestamps: false,
  sinceNanos: undefined,
  tailLines: undefined,
  limitBytes: undefined,
}

function open(over: Partial<LogRequest>, state: { now: ObservedContainer['state'] } = { now: 'exited' }) {
  const find = (): ObservedPod => ({
    ...nothingObserved('1', 'web', 'default'),
    containers: [{ id: 'c', name: 'app', attempt: 0, state: state.now } as ObservedContainer],
  })
  const context = { host: createPodHost(), clock: createClock(), paths: { rootDir: '/', podLogsDir: dir } }
  return readContainerLog(
    { ...request, ...over },
    { find, pods: () => [] },
    context,
    AbortSignal.timeout(20_000),
  )
}

async function readAll(lines: AsyncIterable<string>, onLine: (text: string) => void = () => undefined) {
  let text = ''
  for await (const one of lines) {
    text += one
    onLine(text)
  }
  return text
}

test('follow reads the rest of a rotated file, what came late to it too, and goes on with the new one', async () => {
  writeFileSync(log, line('a'))
  const state: { now: ObservedContainer['state'] } = { now: 'running' }
  const steps = [
    (text: string): boolean => {
      if (text !== 'a\n') return false
      appendFileSync(log, line('b'))
      renameSync(log, `${log}.20260102-030405`)
      // As the runtime does it: the new file is there before the last lines have gone to the old one.
      writeFileSync(log, '')
      setTimeout(() => {
        appendFileSync(`${log}.20260102-030405`, line('c'))
        appendFileSync(log, line('d'))
      }, 50)
      return true
    },
    (text: string): boolean => {
      if (!text.endsWith('d\n')) return false
      state.now = 'exited'
      return true
    },
  ]
  const text = await readAll(await open({ follow: true }, state), (so) => {
    if (steps[0]?.(so)) steps.shift()
  })
  expect(text).toBe('a\nb\nc\nd\n')
})

test('without follow only the current file is read, and its rest although it is rotated meanwhile', async () => {
  writeFileSync(`${log}.20260101-000000`, line('older'))
  writeFileSync(log, line('x'.repeat(1000)).repeat(200))
  let rotated = false
  const text = await readAll(await open({}), () => {
    if (rotated) return
    rotated = true
    renameSync(log, `${log}.20260102-030405`)
    writeFileSync(log, line('new'))
  })
  expect(text.split('\n').length - 1).toBe(200)
  expect(text).not.toMatch(/new|older/)
})

test('a read in the middle of a rotation, when there is no file, waits for the new one', async () => {
  const lines = await open({}, { now: 'running' })
  setTimeout(() => writeFileSync(log, line('after')), 100)
  expect(await readAll(lines)).toBe('after\n')
})

test('a container that ended has no log: nothing, at once', async () => {
  expect(await readAll(await open({ follow: true }))).toBe('')
})

test('a file cut off in place is read from its beginning', async () => {
  writeFileSync(log, line('one') + line('two'))
  const state: { now: ObservedContainer['state'] } = { now: 'running' }
  const text = await readAll(await open({ follow: true }, state), (so) => {
    if (so === 'one\ntwo\n') writeFileSync(log, line('3'))
    else if (so.endsWith('3\n')) state.now = 'exited'
  })
  expect(text).toBe('one\ntwo\n3\n')
})

test('a link in place of the log is refused before the answer begins', async () => {
  writeFileSync(join(dir, 'secret'), line('secret'))
  symlinkSync(join(dir, 'secret'), log)
  await expect(open({})).rejects.toMatchObject({ code: 'input.unreadable' })
})

test('the last lines, from the end', async () => {
  writeFileSync(log, Array.from({ length: 5000 }, (_, i) => line(`line ${i}`)).join(''))
  expect(await readAll(await open({ tailLines: 2 }))).toBe('line 4998\nline 4999\n')
  expect(await readAll(await open({ tailLines: 0 }))).toBe('')
})

test('--previous of an instance that is just removed: the one that is the previous a moment later is read', async () => {
  const instance = (attempt: number, state: ObservedContainer['state']) =>
    ({ id: `c${attempt}`, name: 'app', attempt, state }) as ObservedContainer
  let containers = [instance(2, 'exited'), instance(1, 'exited')]
  writeFileSync(join(dir, 'default_web_1/app/2.log'), line('second'))
  setTimeout(() => {
    containers = [instance(3, 'running'), instance(2, 'exited')]
  }, 100)
  const lines = await readContainerLog(
    { ...request, previous: true },
    { find: () => ({ ...nothingObserved('1', 'web', 'default'), containers }), pods: () => [] },
    { host: createPodHost(), clock: createClock(), paths: { rootDir: '/', podLogsDir: dir } },
    AbortSignal.timeout(20_000),
  )
  expect(await readAll(lines)).toBe('second\n')
})
