import { expect, test } from 'vitest'
import { parseMountInfo } from '../kernel-text/mountinfo.js'
import { controlVersion, decideCgroupLayout } from './layout.js'

const mount = (point: string, type: string, options: string): string =>
  `30 20 0:30 / ${point} rw,relatime - ${type} ${type} rw,${options}\n`
const layout = (...lines: string[]) => decideCgroupLayout(parseMountInfo(lines.join('')))

const v1 = [
  mount('/sys/fs/cgroup/memory', 'cgroup', 'memory'),
  mount('/sys/fs/cgroup/cpu,cpuacct', 'cgroup', 'cpu,cpuacct'),
  mount('/sys/fs/cgroup/systemd', 'cgroup', 'xattr,name=systemd'),
]

test('one cgroup2 is v2', () => {
  const found = layout(mount('/sys/fs/cgroup', 'cgroup2', 'nsdelegate,memory_recursiveprot'))
  expect(found).toEqual({ mode: 'v2', unified: '/sys/fs/cgroup', hierarchies: new Map() })
  expect(controlVersion(found)).toBe('v2')
})

test('controllers in their own hierarchies are v1; a named one does not count', () => {
  const found = layout(...v1)
  expect(found.mode).toBe('v1')
  expect([...found.hierarchies]).toEqual([
    ['memory', '/sys/fs/cgroup/memory'],
    ['cpu', '/sys/fs/cgroup/cpu,cpuacct'],
    ['cpuacct', '/sys/fs/cgroup/cpu,cpuacct'],
  ])
})

test('a cgroup2 beside them is hybrid, and its controllers are v1', () => {
  const found = layout(...v1, mount('/sys/fs/cgroup/unified', 'cgroup2', 'nsdelegate'))
  expect([found.mode, found.unified, controlVersion(found)]).toEqual([
    'hybrid',
    '/sys/fs/cgroup/unified',
    'v1',
  ])
})

test('cgroup2 with only the named v1 hierarchy is v2', () => {
  const found = layout(
    mount('/sys/fs/cgroup', 'cgroup2', 'x=1'),
    mount('/sys/fs/cgroup/systemd', 'cgroup', 'name=systemd'),
  )
  expect(found.mode).toBe('v2')
})

test('nothing mounted is an error that says what to do', () => {
  expect(() => layout(mount('/proc', 'proc', 'x'))).toThrow(
    expect.objectContaining({ code: 'cgroup.not-mounted' }),
  )
})
