// The .deb on a machine with systemd and a runtime: its units, an upgrade under running pods, `keelson up`, and a purge.
import { copyFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import { findCommand, needsOf } from '../../src/lab/packages.js'
import { labChecks } from '../support/lab-checks.js'
import { packagesForTest } from '../support/packages.js'
import { missingRequirement } from '../support/requirements.js'

const isSkipped = missingRequirement({ root: true, packages: needsOf('uml-systemd', true) }) !== undefined
const built = isSkipped ? undefined : await packagesForTest('deb')
const deb = built?.files[0] ?? ''
// `keelson up` makes its images of busybox-static, which the machine could not download.
const busybox = join(dirname(deb), 'busybox')
if (!isSkipped) copyFileSync(findCommand('busybox') ?? '', busybox)
afterAll(() => built?.remove())

await labChecks(
  'the Debian package in UML with systemd',
  {
    place: 'uml-systemd',
    containerd: { systemdCgroup: true },
    env: { KEELSON_DEB: deb, LAB_BUSYBOX: busybox },
    timeoutS: 2400,
  },
  new URL('./inside/package-debian.ts', import.meta.url),
)
