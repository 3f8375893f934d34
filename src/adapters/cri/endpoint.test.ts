import { expect, test } from 'vitest'
import { isKeelsonError } from '../../core/errors.js'
import { parseEndpoint } from './endpoint.js'

const path = '/run/containerd/containerd.sock'

for (const text of [`unix://${path}`, `unix:${path}`, `UNIX://${path}`])
  test(`endpoint ${text}`, () => {
    expect(parseEndpoint(text)).toMatchObject({ socketPath: path, canonical: `unix://${path}` })
  })

test('a plain path is taken, with the spelling to use instead', () => {
  const endpoint = parseEndpoint(path)
  expect(endpoint.socketPath).toBe(path)
  expect(endpoint.hint).toContain(`write unix://${path}`)
})

for (const { text, why } of [
  { text: 'npipe:////./pipe/containerd', why: 'Windows only' },
  { text: 'tcp://127.0.0.1:3735', why: "'tcp' is not supported" },
  { text: 'http://localhost', why: "'http' is not supported" },
  { text: 'unix://run/containerd.sock', why: 'not absolute' },
  { text: 'containerd.sock', why: 'not absolute' },
  { text: '', why: 'names no path' },
  { text: 'unix://', why: 'names no path' },
  { text: `unix:///${'x'.repeat(107)}`, why: 'longer than the 107 bytes' },
  { text: 'unix:///a\0b', why: 'zero byte' },
])
  test(`endpoint '${text.slice(0, 40).replace('\0', '␀')}' is refused: ${why}`, () => {
    try {
      parseEndpoint(text)
      expect.unreachable()
    } catch (e) {
      expect(isKeelsonError(e) && e.code).toBe('runtime.endpoint')
      expect(String(e)).toContain(why)
      expect(String(e)).toContain('unix:///run/containerd/containerd.sock')
    }
  })
