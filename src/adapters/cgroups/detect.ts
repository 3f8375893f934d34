// Finds the cgroup hierarchies of this machine from its mounts.
import { readFileSync } from 'node:fs'
import { type CgroupLayout, decideCgroupLayout } from '../../core/cgroup/layout.js'
import { parseMountInfo } from '../../core/kernel-text/mountinfo.js'

/** Error: cgroup.not-mounted. */
export const readCgroupLayout = (mountInfoFile = '/proc/self/mountinfo'): CgroupLayout =>
  decideCgroupLayout(parseMountInfo(readFileSync(mountInfoFile, 'utf8')))
