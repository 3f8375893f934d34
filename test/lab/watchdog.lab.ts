// systemd's watchdog over the shipped units, with real systemd: who stands still is started again, who is well is left alone.
import { readFileSync } from 'node:fs'
import { labChecks } from '../support/lab-checks.js'

const shipped = (name: string): string =>
  readFileSync(new URL(`../../deploy/systemd/${name}`, import.meta.url), 'utf8')

await labChecks(
  'the watchdog of systemd',
  {
    place: 'uml-systemd',
    env: {
      LAB_CRI_UNIT: shipped('keelson-cri.service'),
      LAB_COMPANION_UNIT: shipped('keelson-companion.service'),
    },
    timeoutS: 420,
  },
  new URL('./inside/watchdog.ts', import.meta.url),
)
