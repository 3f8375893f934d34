import { expect, test } from 'vitest'
import { parsePid, sandboxImages } from './verbose-status.js'

test('the pid of a verbose status, where it is one', () => {
  expect(parsePid('{"pid":4711,"runtimeType":"io.containerd.runc.v2"}')).toBe(4711)
  for (const text of [undefined, '', 'null', '[]', '7', '{"pid":0}', '{"pid":"4711"}', '{"pid":1.5}', '{'])
    expect(parsePid(text), text).toBeUndefined()
})

test('the image of sandboxes, as containerd 1 and 2 name it; nothing where the text is something else', () => {
  expect(sandboxImages('{"sandboxImage":"registry.k8s.io/pause:3.8"}')).toEqual(['registry.k8s.io/pause:3.8'])
  expect(sandboxImages('{"pinnedImages":{"sandbox":"registry.k8s.io/pause:3.10"}}')).toEqual([
    'registry.k8s.io/pause:3.10',
  ])
  for (const text of [undefined, '', 'null', '[]', '7', '{"sandboxImage":7}', '{"pinnedImages":null}', '{'])
    expect(sandboxImages(text), text).toEqual([])
})
