import { expect, test } from 'vitest'
import { parsePid } from './verbose-status.js'

test('the pid of a verbose status, where it is one', () => {
  expect(parsePid('{"pid":4711,"runtimeType":"io.containerd.runc.v2"}')).toBe(4711)
  for (const text of [undefined, '', 'null', '[]', '7', '{"pid":0}', '{"pid":"4711"}', '{"pid":1.5}', '{'])
    expect(parsePid(text), text).toBeUndefined()
})
