// Cgroup names: configured paths, pod names, and the way there and back under both drivers.
import {
  type CgroupDriver,
  cgroupName,
  formatCgroupPath,
  parseCgroupPath,
} from '../../../src/core/cgroup/name.js'
import { podCgroupName } from '../../../src/core/cgroup/pod-cgroup.js'
import { isKeelsonError, type KeelsonError } from '../../../src/core/errors.js'
import type { QosClass } from '../../../src/core/pod/pod.js'
import { mutateText, type Random } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

interface Input {
  readonly path: string
  readonly uid: string
  readonly root: string
  readonly driver: CgroupDriver
  readonly qosClass: QosClass
}

const paths = [
  '/kube.slice/kube-reserved.slice',
  'kube-reserved',
  '/',
  '-.slice',
  '/a-b/c',
  'x_y.slice',
  '..',
] as const
const uids = ['6c1a4e95-6bb6-11e6-bc26-28d2444e470d', '3ac3c7e2b3d5c6b5c7f1d0e9a8b7c6d5', '1', ''] as const
const roots = ['/', '', '/custom-root', '/a/b_c'] as const

export const cgroupNames: FuzzTarget = {
  name: 'cgroup-names',
  generate: (random: Random): Input => ({
    path: mutateText(random.pick(paths), random),
    uid: mutateText(random.pick(uids), random),
    root: random.chance(50) ? random.pick(roots) : mutateText(random.pick(roots), random),
    driver: random.pick(['systemd', 'cgroupfs']),
    qosClass: random.pick(['Guaranteed', 'Burstable', 'BestEffort']),
  }),
  run(input) {
    const { path, uid, root, driver, qosClass } = input as Input
    const refusal = refusable(() => checkPath(formatCgroupPath(podCgroupName(uid, qosClass, root), driver)))
    const name = parseCgroupPath(path, driver)
    checkPath(formatCgroupPath(name, driver))
    // Names under our own rule come back unchanged.
    const own = cgroupName(name)
    const again = parseCgroupPath(formatCgroupPath(own, driver), driver)
    check(again.join('\0') === own.join('\0'), `${own.join('/')} comes back as ${again.join('/')}`)
    if (refusal !== undefined) throw refusal
  },
}

function checkPath(path: string): void {
  check(path.startsWith('/'), `${path} is not absolute`)
  check(!path.split('/').includes('..'), `${path} leaves the tree`)
  check(path === '/' || !path.includes('//'), `${path} has an empty element`)
}

/** The second half of the input is tried whether the first is refused or not. */
function refusable(work: () => void): KeelsonError | undefined {
  try {
    work()
    return undefined
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    return e
  }
}
