// The screen as text, whole, at several sizes; and what keys do to it.
import { describe, expect, test } from 'vitest'
import { expectGolden } from '../../test/support/golden.js'
import { container, fourPods, pod, snapshot } from '../../test/top/snapshots.js'
import type { LiveSnapshot } from '../core/dashboard/model.js'
import { chooseColumns } from './columns.js'
import { parseKeys } from './keys.js'
import { formatOnce } from './once.js'
import { topRows } from './rows.js'
import { pageSize, renderScreen } from './screen.js'
import { initialState, type TopState } from './state.js'
import { ansi, unstyled } from './style.js'
import { clip, pad, plain, widthOf } from './text.js'
import { update } from './update.js'

const size = { columns: 120, rows: 14 }
const screen = (s: LiveSnapshot | undefined, state: Partial<TopState> = {}, at = size, style = unstyled) => {
  const whole = { ...initialState, ...state }
  const rows = s === undefined ? [] : topRows(s, whole)
  return renderScreen({ snapshot: s, rows, state: whole, logs: undefined, size: at, style })
}
const text = (lines: readonly string[]): string => `${lines.map((l) => l.trimEnd()).join('\n')}\n`

/** Presses keys on a table of these pods. */
function press(keys: string, s = snapshot(fourPods), start: Partial<TopState> = {}) {
  let state: TopState = { ...initialState, ...start }
  let effect: string | undefined
  for (const key of parseKeys(keys))
    ({ state, effect } = update(state, key, { rows: topRows(s, state), page: pageSize(size), lines: 40 }))
  return { state, effect }
}
const names = (s: LiveSnapshot, state: Partial<TopState>): string[] =>
  topRows(s, { ...initialState, ...state }).map((r) => r.container?.name ?? r.pod.name)

describe('goldens', () => {
  const s = snapshot(fourPods)
  test.each([
    ['wide', { columns: 160, rows: 12 }, {}],
    ['tree-120', size, { layout: 'tree' as const }],
    ['containers-80', { columns: 80, rows: 12 }, { layout: 'containers' as const, sort: 'cpu' }],
    ['narrow-40', { columns: 40, rows: 10 }, {}],
    ['explain', { columns: 130, rows: 24 }, { view: 'explain' as const, selected: 'id-web-0' }],
    ['help', { columns: 100, rows: 40 }, { view: 'help' as const }],
  ])('%s', (name, at, state) => {
    expectGolden(`top/${name}.txt`, text(screen(s, state, at)))
  })
  test('once', () => {
    expectGolden('top/once.txt', formatOnce(s, { ...initialState, layout: 'tree' }, 160))
  })
  test('colours: throttled is red, near is yellow, the chosen row is reversed', () => {
    const lines = screen(s, {}, size, ansi)
    const line = (name: string) => lines.find((l) => l.includes(name)) ?? ''
    expect(line('web-0')).toContain('\x1b[7m')
    expect(line('db-0')).toContain('\x1b[33m')
    expect(screen(s, { selected: 'id-db-0' }, size, ansi).find((l) => l.includes('web-0'))).toContain(
      '\x1b[31m',
    )
  })
})

describe('every size', () => {
  test('no line is wider than the screen, none too many', () => {
    const odd = [
      pod('demo', '漢字-\x1b[2J-名前-pod-with-a-name-that-is-much-longer-than-any-column-could-ever-be'),
    ]
    for (const columns of [1, 2, 10, 20, 33, 40, 57, 80, 119, 200])
      for (const rows of [1, 2, 5, 6, 24])
        for (const view of ['table', 'explain', 'help', 'logs', 'choose'] as const)
          for (const s of [snapshot(fourPods), snapshot(odd), undefined]) {
            const lines = screen(s, { view }, { columns, rows })
            expect(lines.length).toBeLessThanOrEqual(Math.max(rows, 1))
            for (const line of lines)
              expect(widthOf(line), `${columns}x${rows} ${line}`).toBeLessThanOrEqual(Math.max(columns, 1))
          }
  })
  test('columns leave in the order of their rank', () => {
    expect(chooseColumns(200).shown).toHaveLength(15)
    expect(chooseColumns(80).shown.map((c) => c.id)).toEqual([
      'cpu',
      'mem',
      'mem%req',
      'high',
      'throttle',
      'cputhr',
      'psi',
    ])
    expect(chooseColumns(40).shown.map((c) => c.id)).toEqual(['mem', 'high'])
    expect(chooseColumns(12).shown).toEqual([])
  })
})

describe('rows', () => {
  const s = snapshot(fourPods)
  test.each([
    ['by memory, unknown last', { sort: 'mem' }, ['web-0', 'db-0', 'vm-0', 'empty-0']],
    [
      'the other way, unknown still last',
      { sort: 'mem', ascending: true },
      ['vm-0', 'db-0', 'web-0', 'empty-0'],
    ],
    ['by name', { sort: 'name', ascending: true }, ['db-0', 'web-0', 'empty-0', 'vm-0']],
    ['by CPU', { sort: 'cpu' }, ['db-0', 'web-0', 'vm-0', 'empty-0']],
    ['filter by namespace', { filter: 'shop' }, ['vm-0', 'empty-0']],
    ['filter by two words, any case', { filter: 'DEMO sidecar' }, ['web-0']],
    ['filter without match', { filter: 'nothing' }, []],
    ['containers', { layout: 'containers' as const, filter: 'web' }, ['app', 'sidecar']],
    ['tree', { layout: 'tree' as const, filter: 'demo' }, ['web-0', 'app', 'sidecar', 'db-0', 'db-0-app']],
  ])('%s', (_, state, wanted) => {
    expect(names(s, state)).toEqual(wanted)
  })
})

describe('why the table is empty', () => {
  const runtime = { endpoint: 'unix:///run/x.sock', problem: 'gone', listAgeSeconds: 9 } as const
  test.each([
    ['no pods', snapshot([]), {}, 'no pods'],
    ['filter', snapshot(fourPods), { filter: 'zzz' }, 'no pod matches "zzz"; Esc clears the filter'],
    [
      'starting',
      snapshot([], { runtime: { ...runtime, state: 'starting' } }),
      {},
      'waiting for the list of pods',
    ],
    [
      'away',
      snapshot([], { runtime: { ...runtime, state: 'away' } }),
      {},
      'the runtime is unreachable; no pods listed yet',
    ],
  ])('%s', (_, s, state, wanted) => {
    expect(screen(s, state).join('\n')).toContain(wanted)
  })
  test('a runtime that is unreachable is said above the old list', () => {
    const lines = screen(snapshot(fourPods, { runtime: { ...runtime, state: 'away' } }))
    expect(lines[1]).toBe('runtime is unreachable, list is 9 s old: gone')
    expect(lines.join('\n')).toContain('demo/web-0')
  })
})

test('a runtime that was never reached: pods are not known, which is not 0 pods', () => {
  const s = snapshot([], {
    runtime: {
      endpoint: 'unix:///run/x.sock',
      state: 'away',
      problem: 'no such socket',
      listAgeSeconds: null,
    },
  })
  expect(screen(s)[0]).toContain('pods unknown')
  expect(screen(s)[1]).toContain('no list yet: no such socket')
})

test('one pod with one container is said in the singular', () => {
  expect(screen(snapshot([pod('demo', 'web-0')]))[0]).toContain('1 pod, 1 container  ')
})

describe('keys', () => {
  test.each([
    ['\x1b[A\x1b[Bqj', ['up', 'down', 'q', 'j']],
    ['\x1b[5~\x1b[6~', ['page-up', 'page-down']],
    ['\x1b', ['escape']],
    ['\x1b[200~', []],
    ['\r\x7f\x03', ['enter', 'backspace', 'ctrl-c']],
    ['é漢', ['é', '漢']],
    ['\x01\x02', []],
  ])('%j', (bytes, wanted) => {
    expect(parseKeys(bytes)).toEqual(wanted)
  })

  test.each([
    ['down and up', 'jjk', { selected: 'id-db-0' }],
    ['the end', 'G', { selected: 'id-empty-0' }],
    ['beyond the end', 'jjjjjjjjjj', { selected: 'id-empty-0' }],
    ['sort', 's', { sort: 'mem%req' }],
    ['sort back', 'SSS', { sort: 'name' }],
    ['by CPU, reversed', 'cr', { sort: 'cpu', ascending: true }],
    ['tree', 't', { layout: 'tree' }],
    ['three layouts are a circle', 'ttt', { layout: 'pods' }],
    ['a filter is typed', '/web q\r', { filter: 'web q', typing: false }],
    ['typing knows no commands', '/tsq', { filter: 'tsq', typing: true, layout: 'pods' }],
    ['backspace and ctrl-u', '/ab\x7f\x7f\x7fc\x15d', { filter: 'd' }],
    ['escape clears the filter', '/web\x1b', { filter: '', typing: false }],
    ['explain', 'je', { view: 'explain', selected: 'id-db-0' }],
    ['explain scrolls and comes back', 'ejj\x1b', { view: 'table', scroll: undefined }],
    ['help is a switch', '??', { view: 'table' }],
    ['q in a text leads back', 'eq', { view: 'table' }],
  ])('%s', (_, keys, wanted) => {
    const { state, effect } = press(keys)
    expect(state).toMatchObject(wanted)
    expect(effect).toBeUndefined()
  })
  test('q and ctrl-c quit, also while typing', () => {
    expect(press('q').effect).toBe('quit')
    expect(press('/ab\x03').effect).toBe('quit')
  })
  test('l asks for the log of the chosen row', () => {
    expect(press('jl')).toMatchObject({ effect: 'load-logs', state: { view: 'logs', selected: 'id-db-0' } })
  })
  describe('l on a pod with several containers', () => {
    const web = pod('demo', 'web-0', { containers: [container('app'), container('sidecar')] })
    const s = snapshot([web])
    test('asks which one, the first of the list being marked, and opens none by itself', () => {
      const { state, effect } = press('l', s)
      expect(effect).toBeUndefined()
      const lines = screen(s, state)
      expect(lines[3]).toContain('log of which container of demo/web-0?')
      expect(lines.slice(4, 6).map((l) => l.trimEnd())).toEqual(['> 1  app', '  2  sidecar'])
    })
    test.each([
      ['l\r', 'id-app'],
      ['ll', 'id-app'],
      ['l2', 'id-sidecar'],
      ['lj\r', 'id-sidecar'],
      ['ljjk\r', 'id-app'],
      ['el1', 'id-app'],
    ])('%j opens the log of %s', (keys, logOf) => {
      expect(press(keys, s)).toMatchObject({
        effect: 'load-logs',
        state: { view: 'logs', logOf, selected: 'id-web-0' },
      })
    })
    test('a number that no container has, or Esc, opens nothing', () => {
      expect(press('l3', s).state.view).toBe('choose')
      expect(press('l\x1b', s).state).toMatchObject({ view: 'table', selected: 'id-web-0' })
    })
    test('on the row of a container there is nothing to ask', () => {
      expect(press('jjl', s, { layout: 'tree' })).toMatchObject({
        effect: 'load-logs',
        state: { view: 'logs', selected: 'id-sidecar', logOf: 'id-sidecar' },
      })
    })
  })
  test.each(['pods', 'tree', 'containers'] as const)('%s: the filter counts pods against pods', (layout) => {
    const s = snapshot([
      pod('demo', 'web-3', { containers: [container('app'), container('sidecar')] }),
      pod('demo', 'db-0'),
      pod('demo', 'db-1'),
    ])
    expect(screen(s, { layout, filter: 'web-3' })[2]).toContain('filter: web-3 (1 of 3)')
  })
  test('nothing to choose, nothing happens', () => {
    expect(press('jkleG', snapshot([])).state).toEqual(initialState)
  })
})

describe('text', () => {
  test('escape sequences and control characters do not reach the screen', () => {
    expect(plain('a\x1b[31mred\x1b[0m\x07\r\x1b]0;title\x07b\tc')).toBe('ared··b  c')
  })
  test.each([
    ['漢字', 4],
    ['e\u0301', 1],
    ['abc', 3],
  ])('%s is %d wide', (s, width) => {
    expect(widthOf(s)).toBe(width)
  })
  test('clip and pad count cells', () => {
    expect(clip('漢字漢字', 5)).toBe('漢字…')
    expect(pad('ab', 4, 'right')).toBe('  ab')
    expect(clip('abc', 0)).toBe('')
  })
})
