// 10,000 times a part of a volume is prepared while processes put links in its place: nothing outside the volume is ever
// mounted, and nothing is made there.
import { execFileSync, spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { subPathAttacks } from '../../conformance/subpath-attack/attacks.js'
import { createVolumeHost } from '../../src/adapters/volumes/volume-host.js'
import { requires } from '../support/requirements.js'

const preparations = 10_000
const attacks = subPathAttacks(0)
const host = createVolumeHost()
let dir = ''

beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-subpath-')))
})
afterAll(() => {
  if (dir === '') return
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .filter((point) => point.startsWith(`${dir}/`))
  for (const point of points.toReversed()) execFileSync('umount', ['-l', point])
  rmSync(dir, { recursive: true, force: true })
})

for (const [index, attack] of attacks.entries())
  test(`${preparations / attacks.length} preparations, attack ${index + 1}`, async (ctx) => {
    requires(ctx, { root: true, commands: ['mount', 'umount'] })
    const volume = join(dir, `volume-${index}`)
    const secret = join(dir, 'secret')
    const target = join(dir, `volume-subpaths/v/c/${index}`)
    mkdirSync(volume, { mode: 0o777 })
    mkdirSync(join(secret, 'part'), { recursive: true })
    writeFileSync(join(secret, 'leaked'), 'x')
    writeFileSync(join(secret, 'part/leaked'), 'x')
    const forbidden = [secret, join(secret, 'part'), dir].map((path) => statSync(path).ino)
    const swapper = spawn(process.execPath, ['-e', attack], { cwd: volume })
    const counts = { prepared: 0, refused: 0 }
    try {
      for (let n = 0; n < preparations / attacks.length; n += 1) {
        const request = { volumePath: volume, subPath: 'way/part', target }
        const done = await host.prepareSubPath(request).then(
          () => true,
          () => false,
        )
        counts[done ? 'prepared' : 'refused'] += 1
        if (!done) continue
        expect(forbidden).not.toContain(statSync(target).ino)
        expect(readdirSync(target)).not.toContain('leaked')
      }
    } finally {
      swapper.kill('SIGKILL')
    }
    console.log(`attack ${index + 1}: ${counts.prepared} prepared, ${counts.refused} refused, 0 escapes`)
    expect(counts.prepared).toBeGreaterThan(0)
    expect(counts.refused).toBeGreaterThan(0)
    expect(readdirSync(secret).sort()).toEqual(['leaked', 'part'])
    expect(readdirSync(join(secret, 'part'))).toEqual(['leaked'])
  })
