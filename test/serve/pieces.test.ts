// Answers in pieces, as those of /metrics/cadvisor: whole over TLS, for clients that go away in the middle, and for those that stop reading.
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { textAnswer } from '../../src/serve/failures.js'
import { freePorts } from '../support/command.js'
import { type Here, startHere } from './here.js'

/** More than the kernel keeps for a connection. */
const pieces = Array.from({ length: 4_000 }, (_, i) => Buffer.from(`piece ${i} ${'x'.repeat(4_000)}\n`))
const whole = Buffer.concat(pieces).toString()

let here: Here
beforeAll(async () => {
  const [healthzPort = 0, readOnlyPort = 0] = await freePorts(2)
  const long = { name: 'long', path: '/long', methods: ['GET'], readOnly: true }
  const endpoints = [{ ...long, handle: () => ({ ...textAnswer(''), body: pieces }) }]
  here = await startHere({ settings: { healthzPort, readOnlyPort }, endpoints })
})
afterAll(() => here.end())

const askPlain = (): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    requestHttp({ host: '127.0.0.1', port: here.readOnlyPort, path: '/long', agent: false }, resolve)
      .once('error', reject)
      .end()
  })

const askTls = (): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const token = readFileSync(join(here.directory, 'token'), 'utf8').trim()
    const headers = { authorization: `Bearer ${token}` }
    const at = { host: '127.0.0.1', port: here.port, path: '/long' }
    const options = { ...at, agent: false, rejectUnauthorized: false, headers }
    requestHttps(options, resolve).once('error', reject).end()
  })

test.each([
  ['TLS', askTls],
  ['plain HTTP', askPlain],
])('%s: the text is whole, of the length that was said', async (_, ask) => {
  const answer = await ask()
  expect(answer.headers).toMatchObject({ 'content-length': String(whole.length) })
  expect((await text(answer)) === whole).toBe(true)
})

test.each([
  ['TLS', askTls],
  ['plain HTTP', askPlain],
])(
  '%s: a client that goes away in the middle leaves nothing behind, and the next one is answered',
  async (_, ask) => {
    for (let i = 0; i < 5; i++) {
      const answer = await ask()
      answer.once('data', () => answer.destroy())
      await new Promise((resolve) => answer.once('close', resolve))
    }
    expect((await text(await ask())).length).toBe(whole.length)
  },
)

test('a client that stops reading gets the rest when it reads on, and others do not wait for it', async () => {
  const slow = await askTls()
  slow.pause()
  expect((await text(await askTls())).length).toBe(whole.length)
  expect((await text(slow)) === whole).toBe(true)
})
