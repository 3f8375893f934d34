// systemd as cgroup driver, in the machine where it is process 1.
import { labChecks } from '../support/lab-checks.js'

await labChecks(
  'slices through D-Bus',
  { place: 'uml-systemd', timeoutS: 240 },
  new URL('./inside/systemd.ts', import.meta.url),
)

await labChecks(
  'containerd in UML, systemd driver',
  {
    place: 'uml-systemd',
    containerd: {},
    timeoutS: 300,
    env: {
      LAB_CGROUP_PARENT: '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podlab1.slice',
    },
  },
  new URL('./inside/cri-v2.ts', import.meta.url),
)
