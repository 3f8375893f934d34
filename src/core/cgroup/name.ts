// Cgroup names as lists of components, their literal paths under both drivers, and back.
// Which names the kubelet gives to its pods is in pod-cgroup.ts.
import { keelsonError } from '../errors.js'

export type CgroupDriver = 'cgroupfs' | 'systemd'

/** `['kubepods', 'burstable', 'pod1-2']`; the empty list is the root. */
export type CgroupName = readonly string[]

// NAME_MAX of Linux file systems, and the bound of systemd unit names.
const maxElementBytes = 255
const maxDepth = 64

/**
 * A name made of our own components. `/` would open a directory and `_` would not survive the systemd escape,
 * which turns `-` into `_`.
 */
export function cgroupName(components: readonly string[]): CgroupName {
  for (const component of components) {
    if (component.includes('_')) {
      throw invalid(component, 'contains an underscore, which stands for a dash under systemd')
    }
    checkComponent(component)
  }
  return checkDepth(components)
}

/** A child of a name that may come from the administrator: only what we add is held to our own rule. */
export const cgroupChild = (parent: CgroupName, ...added: readonly string[]): CgroupName =>
  checkDepth([...parent, ...cgroupName(added)])

export const formatCgroupPath = (name: CgroupName, driver: CgroupDriver): string =>
  driver === 'systemd' ? formatSystemdPath(name) : formatCgroupfsPath(name)

/** `['a-b', 'c']` is `/a-b/c`. */
export function formatCgroupfsPath(name: CgroupName): string {
  for (const component of name) checkLength(component)
  return `/${name.join('/')}`
}

/** `['a-b', 'c']` is `/a_b.slice/a_b-c.slice`: each level repeats the names above it. */
export function formatSystemdPath(name: CgroupName): string {
  let path = ''
  let prefix = ''
  for (const component of name) {
    const escaped = component.replaceAll('-', '_')
    prefix = prefix === '' ? escaped : `${prefix}-${escaped}`
    const unit = `${prefix}.slice`
    checkLength(unit)
    path += `/${unit}`
  }
  return path === '' ? '/' : path
}

/** A name that an administrator wrote: `/kube.slice/kube-reserved.slice` is `['kube', 'reserved']`. */
export const parseCgroupPath = (path: string, driver: CgroupDriver): CgroupName =>
  driver === 'systemd' ? parseSystemdPath(path) : parseCgroupfsPath(path)

export function parseCgroupfsPath(path: string): CgroupName {
  const inner = path.replace(/^\//, '').replace(/\/$/, '')
  return inner === '' ? [] : checkDepth(inner.split('/').map(checkComponent))
}

/** Only the last element counts, because a slice carries the names of its ancestors. */
export function parseSystemdPath(path: string): CgroupName {
  const inner = path.replace(/\/$/, '')
  const last = inner.slice(inner.lastIndexOf('/') + 1)
  const unit = last.endsWith('.slice') ? last.slice(0, -'.slice'.length) : last
  if (unit === '' && last !== '') throw invalid(path, 'has no name before .slice')
  if (unit === '' || unit === '-') return []
  return checkDepth(unit.split('-').map((part) => checkComponent(part.replaceAll('_', '-'))))
}

function checkComponent(component: string): string {
  if (component === '') throw invalid(component, 'is empty')
  if (component === '.' || component === '..') throw invalid(component, 'is a directory reference')
  if (component.includes('/')) throw invalid(component, 'contains a slash')
  if (hasControlCharacter(component)) throw invalid(component, 'contains a control character')
  return component
}

function hasControlCharacter(s: string): boolean {
  for (let i = 0; i < s.length; i += 1) {
    const code = s.charCodeAt(i)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}

function checkDepth(components: readonly string[]): CgroupName {
  if (components.length > maxDepth) {
    throw invalid(components.join('/'), `has more than ${maxDepth} components`)
  }
  return components
}

function checkLength(element: string): void {
  // A character is at most three bytes per UTF-16 unit, so most names need no encoding.
  if (element.length * 3 <= maxElementBytes) return
  if (utf8Length(element) > maxElementBytes) throw invalid(element, `is longer than ${maxElementBytes} bytes`)
}

function utf8Length(s: string): number {
  let length = 0
  for (const character of s) {
    const code = character.codePointAt(0) ?? 0
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return length
}

const invalid = (given: string, what: string) =>
  keelsonError(
    'cgroup-name.invalid',
    `cgroup name ${JSON.stringify(given.slice(0, 80))} ${what}; use letters, digits, dots and dashes`,
    { name: given.slice(0, 80) },
  )
