import { expect, test } from 'vitest'
import { streamTarget } from './stream-target.js'

test('an address of this machine is used', () => {
  expect(streamTarget('http://127.0.0.1:33333/exec/abc?x=1')).toEqual({
    host: '127.0.0.1',
    port: 33333,
    path: '/exec/abc?x=1',
  })
  expect(streamTarget('http://[::1]:80/attach/a')).toMatchObject({ host: '::1', port: 80 })
})

for (const url of [
  'http://192.0.2.1:33333/exec/abc',
  'https://127.0.0.1:33333/exec/abc',
  'http://127.0.0.1.example/exec/abc',
  'http://[::ffff:192.0.2.1]:1/x',
  'ftp://127.0.0.1/x',
  '/exec/abc',
  '',
])
  test(`${url || 'nothing'} is refused`, () => {
    expect(() => streamTarget(url)).toThrow(/stream_server_address/)
  })
