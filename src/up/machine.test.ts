// Where a node is built, and the one message for each reason not to build it.
import { describe, expect, test } from 'vitest'
import { isKeelsonError } from '../core/errors.js'
import { type MachineFacts, planUp, type UpRequest } from './machine.js'

const MiB = 1024n * 1024n
const machine = (over: Partial<MachineFacts> = {}): MachineFacts => ({
  platform: 'linux',
  arch: 'x64',
  root: true,
  cgroupV2: true,
  podsHere: false,
  hasApt: true,
  missing: { host: [], lab: [] },
  space: [{ path: '/tmp', freeBytes: 4096n * MiB }],
  availableMemoryBytes: 4096n * MiB,
  ...over,
})
const request = (over: Partial<UpRequest> = {}): UpRequest => ({
  on: undefined,
  endpoint: undefined,
  demo: true,
  ...over,
})

describe('the place', () => {
  for (const { name, facts, asked, place } of [
    { name: 'root on cgroup v2', facts: machine(), asked: request(), place: 'host' },
    { name: 'cgroup v1', facts: machine({ cgroupV2: false }), asked: request(), place: 'lab' },
    { name: 'not root', facts: machine({ root: false }), asked: request(), place: 'lab' },
    { name: 'another kubelet', facts: machine({ podsHere: true }), asked: request(), place: 'lab' },
    { name: 'asked for', facts: machine(), asked: request({ on: 'lab' }), place: 'lab' },
    {
      name: 'a runtime of this machine',
      facts: machine(),
      asked: request({ endpoint: 'unix:///x' }),
      place: 'host',
    },
    {
      name: 'arm64 with a runtime of its own and no demo',
      facts: machine({ arch: 'arm64' }),
      asked: request({ endpoint: 'unix:///x', demo: false }),
      place: 'host',
    },
  ] as const)
    test(name, () => expect(planUp(facts, asked).place).toBe(place))

  test('root with apt installs what is missing there', () => {
    const facts = machine({ missing: { host: ['containerd'], lab: ['user-mode-linux'] } })
    expect(planUp(facts, request()).install).toEqual(['containerd'])
    expect(planUp(facts, request({ on: 'lab' })).install).toEqual(['user-mode-linux'])
  })
})

describe('one message with what to do', () => {
  for (const { name, facts, asked, code, says } of [
    {
      name: 'no root, packages missing',
      facts: machine({ root: false, missing: { host: [], lab: ['user-mode-linux', 'containerd'] } }),
      asked: request(),
      code: 'up.missing',
      says: /needs root: sudo apt-get install .*user-mode-linux containerd$/,
    },
    {
      name: 'no apt, packages missing',
      facts: machine({ hasApt: false, missing: { host: ['containerd'], lab: [] } }),
      asked: request(),
      code: 'up.missing',
      says: /no apt-get .*containerd.*package manager/,
    },
    {
      name: 'no Linux',
      facts: machine({ platform: 'darwin' }),
      asked: request(),
      code: 'up.unsupported',
      says: /Linux is required and this is darwin/,
    },
    {
      name: 'an architecture without images',
      facts: machine({ arch: 'arm64' }),
      asked: request(),
      code: 'up.unsupported',
      says: /x86-64 and this machine is arm64.*--runtime-endpoint/,
    },
    {
      name: 'the host was asked for and cannot be',
      facts: machine({ cgroupV2: false }),
      asked: request({ on: 'host' }),
      code: 'up.unsupported',
      says: /cgroup v1; use keelson up --on lab/,
    },
    {
      name: 'a runtime for the lab',
      facts: machine(),
      asked: request({ on: 'lab', endpoint: 'unix:///x' }),
      code: 'usage.invalid',
      says: /remove --on lab/,
    },
    {
      name: 'no disk',
      facts: machine({ space: [{ path: '/tmp', freeBytes: 12n * MiB }] }),
      asked: request(),
      code: 'up.no-space',
      says: /\/tmp has 12 MiB free and 500 MiB are needed.*TMPDIR/,
    },
    {
      name: 'no memory',
      facts: machine({ availableMemoryBytes: 100n * MiB }),
      asked: request(),
      code: 'up.no-space',
      says: /100 MiB of memory available/,
    },
  ] as const)
    test(name, () => {
      try {
        planUp(facts, asked)
        expect.unreachable()
      } catch (e) {
        expect(isKeelsonError(e) ? [e.code, e.message] : e).toEqual([code, expect.stringMatching(says)])
        expect(isKeelsonError(e) && e.message.split('\n')).toHaveLength(1)
      }
    })
})
