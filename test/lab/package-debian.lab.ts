// The .deb on a machine with systemd and a runtime: its units, an upgrade under running pods, `keelson up`, and a purge.
import { afterAll } from 'vitest'
import { needsOf } from '../../src/lab/packages.js'
import { labChecks } from '../support/lab-checks.js'
import { packagesForTest } from '../support/packages.js'
import { missingRequirement } from '../support/requirements.js'

const isSkipped = missingRequirement({ root: true, packages: needsOf('uml-systemd', true) }) !== undefined
const built = isSkipped ? undefined : await packagesForTest('deb')
afterAll(() => built?.remove())

await labChecks(
  'the Debian package in UML with systemd',
  {
    place: 'uml-systemd',
    containerd: { systemdCgroup: true },
    env: { KEELSON_DEB: built?.files[0] ?? '' },
    timeoutS: 2400,
  },
  new URL('./inside/package-debian.ts', import.meta.url),
)
