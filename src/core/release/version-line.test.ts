import { expect, test } from 'vitest'
import { formatKubeletVersion } from './version-line.js'

for (const { name, release, line } of [
  {
    name: 'profile upstream, with a patch',
    release: { profile: 'upstream', version: { minor: 37, patch: 1 } },
    line: 'Kubernetes v1.37.1',
  },
  {
    name: 'profile upstream, a minor only: readers want three numbers',
    release: { profile: 'upstream', version: { minor: 36, patch: undefined } },
    line: 'Kubernetes v1.36.0',
  },
  {
    name: 'profile kep: our own version',
    release: { profile: 'kep', version: { minor: 37, patch: 1 } },
    line: 'keelson 0.1.0',
  },
] as const)
  test(`kubelet --version: ${name}`, () => {
    expect(formatKubeletVersion(release, '0.1.0')).toBe(line)
  })
