// The text of the two files a private containerd reads: its own configuration and its pods' network.

export interface ContainerdPlan {
  /** Everything of this containerd is below: root, state, network, sockets, log. */
  readonly dir: string
  readonly root: string
  readonly socket: string
  readonly bridge: string
  readonly subnet: string
  /** Names this instance in CNI's results and firewall rules, so that clean-up finds exactly its own. */
  readonly network: string
  readonly systemdCgroup: boolean
  readonly runtime: string
  readonly snapshotter: string
  readonly statsPeriodS: number
  readonly restrictOomScoreAdj: boolean
  readonly sandboxImage: string
  readonly log: string
  /** Directory with a hosts.toml for each registry; see containerd's docs/hosts.md. */
  readonly registries: string | undefined
}

const unused = [
  'io.containerd.snapshotter.v1.aufs',
  'io.containerd.snapshotter.v1.btrfs',
  'io.containerd.snapshotter.v1.devmapper',
  'io.containerd.snapshotter.v1.zfs',
  'io.containerd.internal.v1.opt',
  'io.containerd.tracing.processor.v1.otlp',
]

/** JSON strings are TOML basic strings as long as they stay in ASCII. */
const quote = (text: string): string => JSON.stringify(text)

const registryTable = (dir: string): string => `  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = ${quote(dir)}
`

export const formatContainerdConfig = (plan: ContainerdPlan): string => `version = 2
root = ${quote(plan.root)}
state = ${quote(`${plan.dir}/state`)}
disabled_plugins = ${JSON.stringify(unused)}
[grpc]
  address = ${quote(plan.socket)}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${quote(plan.sandboxImage)}
  disable_apparmor = true
  disable_tcp_service = true
  disable_hugetlb_controller = false
  tolerate_missing_hugetlb_controller = true
  netns_mounts_under_state_dir = true
  restrict_oom_score_adj = ${plan.restrictOomScoreAdj}
  stats_collect_period = ${plan.statsPeriodS}
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = ${quote(`${plan.dir}/net.d`)}
${plan.registries === undefined ? '' : registryTable(plan.registries)}  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = ${quote(plan.snapshotter)}
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = ${quote(plan.runtime)}
        Root = ${quote(`${plan.dir}/runc`)}
        SystemdCgroup = ${plan.systemdCgroup}
`

export const formatNetwork = (plan: ContainerdPlan): string =>
  JSON.stringify(
    {
      cniVersion: '0.4.0',
      name: plan.network,
      plugins: [
        {
          type: 'bridge',
          bridge: plan.bridge,
          isGateway: true,
          ipMasq: true,
          promiscMode: true,
          ipam: {
            type: 'host-local',
            dataDir: `${plan.dir}/ipam`,
            ranges: [[{ subnet: plan.subnet }]],
            routes: [{ dst: '0.0.0.0/0' }],
          },
        },
        { type: 'portmap', capabilities: { portMappings: true } },
      ],
    },
    undefined,
    2,
  )

export const loopbackNetwork = JSON.stringify({ cniVersion: '0.4.0', name: 'lo', type: 'loopback' })
