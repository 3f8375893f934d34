import { expect, test } from 'vitest'
import { orderDropIns, whyNoDropIns } from './drop-ins.js'

const order = (...paths: string[]) => orderDropIns(paths.map((path) => ({ path }))).map((f) => f.path)

test('only .conf counts', () => {
  expect(order('a.yaml', 'a.conf', 'a.conf~', 'b.CONF', 'conf', '.conf')).toEqual(['.conf', 'a.conf'])
})

test('each directory in lexical order, a sub-directory at the place of its own name', () => {
  expect(
    order('90-z.conf', '20.d/b.conf', '20.d/a.conf', '10-a.conf', '20-x.conf', '20.d/sub/0.conf'),
  ).toEqual(['10-a.conf', '20-x.conf', '20.d/a.conf', '20.d/b.conf', '20.d/sub/0.conf', '90-z.conf'])
  // By whole names, not by the joined path: `-` sorts before `/`.
  expect(order('a-b/1.conf', 'a/1.conf')).toEqual(['a/1.conf', 'a-b/1.conf'])
})

test('by bytes, as Go does', () => {
  expect(order('\u{1F600}.conf', '\uffee.conf', 'Z.conf', 'a.conf')).toEqual([
    'Z.conf',
    'a.conf',
    '\uffee.conf',
    '\u{1F600}.conf',
  ])
})

for (const [minor, env, refused] of [
  [27, {}, /unknown flag: --config-dir/],
  [28, {}, /KUBELET_CONFIG_DROPIN_DIR_ALPHA/],
  [29, {}, /KUBELET_CONFIG_DROPIN_DIR_ALPHA/],
  [29, { KUBELET_CONFIG_DROPIN_DIR_ALPHA: '' }, undefined],
  [30, {}, undefined],
] as const) {
  test(`--config-dir in 1.${minor} with ${JSON.stringify(env)}`, () => {
    const why = whyNoDropIns(minor, env)
    if (refused === undefined) expect(why).toBeUndefined()
    else expect(why).toMatch(refused)
  })
}
