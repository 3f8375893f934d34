// The cgroup tree of this machine with as many kept descriptors as this process may have open.
import { readFileSync } from 'node:fs'
import { readCgroupLayout } from '../adapters/cgroups/detect.js'
import { unifiedHierarchy } from '../adapters/cgroups/hierarchy.js'
import { CgroupFsTree, createCgroupTree } from '../adapters/cgroups/tree.js'
import { type MaxOpenFiles, parseMaxOpenFiles } from '../core/kernel-text/proc-limits.js'

/** For sockets, logs, watches and the runtime's connections. */
const FOR_THE_REST = 2_048
/** 3,900 pods with two containers; beyond it kernel memory matters more than the cost of opening files. */
const MOST = 262_144
/** Where /proc cannot be read: what most systems give to a service. */
const USUAL_LIMIT = 1_024

/** A sweep over more files than are kept opens every one of them again: the limit of the process is the right number. */
export function decideKeptDescriptors(openFiles: MaxOpenFiles): number {
  if (openFiles === 'unlimited') return MOST
  const limit = Number(openFiles ?? BigInt(USUAL_LIMIT))
  return Math.min(MOST, Math.max(limit - FOR_THE_REST, Math.floor(limit / 2)))
}

function readOpenFilesLimit(): MaxOpenFiles {
  try {
    return parseMaxOpenFiles(readFileSync('/proc/self/limits', 'utf8'))
  } catch {
    return undefined
  }
}

/** `mount`: cgroup v2 of the host, where it is mounted elsewhere than this process would look. */
export function openCgroupFiles(mount?: string): CgroupFsTree {
  const options = { maxDescriptors: decideKeptDescriptors(readOpenFilesLimit()) }
  return mount === undefined
    ? createCgroupTree(readCgroupLayout(), options)
    : new CgroupFsTree(unifiedHierarchy(mount), options)
}
