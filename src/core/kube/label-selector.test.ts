import { describe, expect, test } from 'vitest'
import { parseLabelSelector } from './label-selector.js'

const labels = { app: 'web', 'app.kubernetes.io/name': 'shop', tier: 'front', empty: '' }

describe('matches as kubectl -l does', () => {
  for (const [selector, matches] of [
    ['', true],
    ['app=web', true],
    ['app==web', true],
    ['app = web , tier=front', true],
    ['app=web,tier=back', false],
    ['app!=web', false],
    ['missing!=web', true],
    ['app.kubernetes.io/name=shop', true],
    ['app in (api, web)', true],
    ['app in (api),tier', false],
    ['app notin (api,db),tier in (front)', true],
    ['missing notin (a)', true],
    ['missing in (a)', false],
    ['tier', true],
    ['!tier', false],
    ['!missing', true],
    ['empty=', true],
    ['empty', true],
    ['constructor', false],
    ['toString notin (a)', true],
  ] as const)
    test(`${selector || '(nothing)'}: ${matches}`, () =>
      expect(parseLabelSelector(selector)(labels)).toBe(matches))
})

for (const bad of [
  '=web',
  'app=a b',
  'app in web',
  'app in (a',
  'app>1',
  ',app',
  '-a=b',
  `app=${'x'.repeat(64)}`,
])
  test(`${bad.slice(0, 20)} is refused`, () => expect(() => parseLabelSelector(bad)).toThrow(/use key=value/))
