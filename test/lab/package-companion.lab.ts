// The shipped image in the real containerd of a machine, started as the shipped manifest says, beside real pods.
import { readFileSync } from 'node:fs'
import { afterAll } from 'vitest'
import { needsOf } from '../../src/lab/packages.js'
import { labChecks } from '../support/lab-checks.js'
import { packagesForTest } from '../support/packages.js'
import { missingRequirement } from '../support/requirements.js'

const manifest = (name: string): string =>
  readFileSync(new URL(`../../deploy/companion/${name}`, import.meta.url), 'utf8')

const isSkipped = missingRequirement({ root: true, packages: needsOf('uml-systemd', true) }) !== undefined
const built = isSkipped ? undefined : await packagesForTest('image')
afterAll(() => built?.remove())

await labChecks(
  'the companion of the image in UML with systemd',
  {
    place: 'uml-systemd',
    containerd: { systemdCgroup: true, archives: built?.files ?? [] },
    env: {
      LAB_DRIVER: 'systemd',
      COMPANION_YAML: manifest('companion.yaml'),
      ROLLBACK_YAML: manifest('rollback.yaml'),
    },
    timeoutS: 1100,
  },
  new URL('./inside/package-companion.ts', import.meta.url),
)
