// Suite cgroup-snapshot: lays the snapshot out as directories and reads it with the product's collectors, through the
// product's cgroup tree and procfs readers. One file is one case.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Suite } from '../../types.js'
import { compareSnapshot } from './compare-snapshot.js'
import { layOut } from './lay-out.js'
import { readSnapshot } from './read-snapshot.js'

export const cgroupSnapshot: Suite = {
  suite: 'cgroup-snapshot',
  cases: (file) => [file],
  run(snapshot) {
    const directory = mkdtempSync(join(tmpdir(), 'keelson-snapshot-'))
    try {
      return compareSnapshot(snapshot, readSnapshot(snapshot, layOut(snapshot, directory)))
    } finally {
      rmSync(directory, { recursive: true })
    }
  },
}
