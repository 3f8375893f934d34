// The checks, in the order in which they are shown. Below another root (--rootfs) the running system says nothing
// about the node, so what is only known of a running one is skipped or only warned about.
import { error, ok, type PreflightCheck, skipped, warn } from './check.js'

const privilegedUser: PreflightCheck = {
  name: 'privileged-user',
  asks: 'May this process change the node?',
  run: ({ host }) =>
    host.privileged === false
      ? error('this user is not root', 'run the command as root, or with --rootfs')
      : ok,
}

const runtimeAnswers: PreflightCheck = {
  name: 'runtime-answers',
  asks: 'Does a container runtime answer at the chosen endpoint?',
  run({ command, endpoint, endpointAnswers, runtime, host }) {
    if (command === 'reset') return skipped('reset also works when the runtime is gone')
    const say = host.privileged === undefined ? warn : error
    if (!endpointAnswers)
      return say(`nothing answers at ${endpoint}`, 'start the runtime, or choose another endpoint')
    if (runtime === undefined)
      return say(`what answers at ${endpoint} does not speak CRI v1`, 'check that it is a container runtime')
    return ok
  },
}

const runtimeConfigKnown: PreflightCheck = {
  name: 'runtime-config',
  asks: 'Does the runtime tell its cgroup driver?',
  run({ runtime }) {
    if (runtime === undefined) return skipped('no runtime answered')
    return runtime.runtimeConfig === 'unimplemented'
      ? warn(
          `${runtime.name} ${runtime.version} does not know RuntimeConfig`,
          'set cgroupDriver by hand, upgrade the runtime, or put keelson cri in front of it',
        )
      : ok
  },
}

const severalRuntimes: PreflightCheck = {
  name: 'several-runtimes',
  asks: 'Is it clear which runtime this node uses?',
  run: ({ listening }) =>
    listening.length > 1
      ? warn(`several runtimes answer: ${listening.join(', ')}`, 'stop the ones that are not used')
      : ok,
}

const staleEndpointFlag: PreflightCheck = {
  name: 'stale-endpoint-flag',
  asks: 'Does a left-over flag beat config.yaml?',
  run: ({ staleFlag }) =>
    staleFlag === undefined
      ? ok
      : warn(
          `kubeadm-flags.env still has --container-runtime-endpoint=${staleFlag}, which beats config.yaml`,
          'take the flag out of kubeadm-flags.env and restart the kubelet',
        ),
}

/** kubeadm takes kubelets of its own minor down to three minors older. */
const kubeletSkew: PreflightCheck = {
  name: 'kubelet-skew',
  asks: 'Does the installed kubelet fit this release?',
  run({ host, version, command }) {
    const minor = Number(/^v?1\.(\d+)/.exec(host.kubeletVersion ?? '')?.[1] ?? Number.NaN)
    if (command === 'reset' || Number.isNaN(minor)) return skipped('no kubelet to compare with')
    const remedy = `install a kubelet of 1.${Math.max(version.minor - 3, 0)} to 1.${version.minor}`
    if (minor > version.minor) return error(`kubelet 1.${minor} is newer than 1.${version.minor}`, remedy)
    if (minor < version.minor - 3)
      return error(`kubelet 1.${minor} is more than three minors older than 1.${version.minor}`, remedy)
    return ok
  },
}

/** Before 5.9 a task over memory.high could be put to sleep for very long. */
const kernel: PreflightCheck = {
  name: 'kernel',
  asks: 'Is this kernel new enough?',
  run({ host }) {
    const found = /^(\d+)\.(\d+)/.exec(host.kernelRelease ?? '')
    if (host.os !== 'linux' || found === null) return skipped('the kernel is not known')
    const [major, minor] = [Number(found[1]), Number(found[2])]
    return major > 5 || (major === 5 && minor >= 9)
      ? ok
      : warn(`kernel ${host.kernelRelease} is older than 5.9`, 'upgrade it before Memory QoS is used')
  },
}

const cgroupV2: PreflightCheck = {
  name: 'cgroup-v2',
  asks: 'Does this node use cgroup v2?',
  run({ host, version }) {
    if (host.os !== 'linux' || host.cgroupV2 === undefined) return skipped('not known here')
    if (host.cgroupV2) return ok
    const say = version.minor >= 35 ? error : warn
    return say('this node has cgroup v1', 'boot with systemd.unified_cgroup_hierarchy=1')
  },
}

export const preflightChecks: readonly PreflightCheck[] = [
  privilegedUser,
  runtimeAnswers,
  runtimeConfigKnown,
  severalRuntimes,
  staleEndpointFlag,
  kubeletSkew,
  kernel,
  cgroupV2,
]
