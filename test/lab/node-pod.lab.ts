// A node from `keelson node init` to running pods, then the CRI server put in front and taken out, with real systemd and
// real containerd.
import { readFileSync } from 'node:fs'
import { labChecks } from '../support/lab-checks.js'

const shipped = (name: string): string =>
  readFileSync(new URL(`../../deploy/systemd/${name}`, import.meta.url), 'utf8')

await labChecks(
  'node init, pods, cri install in UML with systemd',
  {
    place: 'uml-systemd',
    containerd: { systemdCgroup: true },
    env: {
      LAB_KUBELET_UNIT: shipped('keelson-kubelet.service'),
      LAB_KUBELET_DROP_IN: shipped('keelson-kubelet.service.d/10-kubeadm.conf'),
    },
    timeoutS: 1100,
  },
  new URL('./inside/node-pod.ts', import.meta.url),
)
