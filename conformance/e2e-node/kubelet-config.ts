// The configuration that the suite starts a kubelet with: the values that its authors run it with, and what this host
// needs beyond them.
import { stringify } from 'yaml'
import { podSubnet } from '../node-environment/plan.js'

export const formatKubeletConfig = (): string =>
  stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: '/',
    podCIDR: podSubnet,
    // Short periods: specs wait for what they bring.
    volumeStatsAggPeriod: '10s',
    fileCheckFrequency: '10s',
    evictionPressureTransitionPeriod: '30s',
    evictionHard: { 'memory.available': '250Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' },
    evictionMinimumReclaim: { 'nodefs.available': '5%', 'nodefs.inodesFree': '5%' },
    serializeImagePulls: false,
    // Hosts with cgroup v1 and hosts with swap.
    failCgroupV1: false,
    failSwapOn: false,
    resolvConf: '/etc/resolv.conf',
  })
