// The units of the conformance tier, in the order in which they run.
import type { Unit } from '../unit.js'
import { bootstrap } from './bootstrap.js'
import { cadvisor } from './cadvisor.js'
import { cluster } from './cluster.js'
import { controlPlane } from './control-plane.js'
import { critest } from './critest.js'
import { driver } from './driver.js'
import { e2e } from './e2e.js'
import { e2eNode } from './e2e-node.js'
import { eventedPleg } from './evented-pleg.js'
import { kubeadmInit } from './kubeadm-init.js'
import { kubeadmJoin } from './kubeadm-join.js'
import { kubectlUnit } from './kubectl.js'
import { kubeletSwap } from './kubelet-swap.js'
import { matrix } from './matrix.js'
import { metricsServer } from './metrics-server.js'
import { rollUnit } from './roll.js'
import { subPathAttack } from './subpath-attack.js'
import { values } from './values.js'

export const units: readonly Unit[] = [
  driver,
  controlPlane,
  bootstrap,
  critest,
  cadvisor,
  metricsServer,
  kubeadmInit,
  kubeadmJoin,
  kubeletSwap,
  rollUnit,
  subPathAttack,
  matrix,
  values,
  eventedPleg,
  e2eNode,
  cluster,
  kubectlUnit,
  e2e,
]
