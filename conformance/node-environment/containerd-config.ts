// Configuration of the environment's containerd, in the form of each major version.
import { type RuntimeName, runtimeSocket } from './plan.js'

interface ContainerdSettings {
  readonly directory: string
  readonly runc: string
  readonly driver: 'cgroupfs' | 'systemd'
  /** Of containerd 2 alone: the others have none. */
  readonly collectPeriod?: string | undefined
}

const quote = (text: string): string => JSON.stringify(text)

const head = (version: number): string => `version = ${version}
root = "/var/lib/containerd"
state = "/run/containerd/state"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.blockfile",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.erofs",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.internal.v1.opt",
  "io.containerd.internal.v1.tracing",
  "io.containerd.tracing.processor.v1.otlp",
]
[grpc]
  address = ${quote(runtimeSocket)}
`

/** `test-handler` is the second runtime that specs of RuntimeClass ask for. */
const handlers = (plugin: string, { runc, driver }: ContainerdSettings): string =>
  ['runc', 'test-handler']
    .map(
      (name) => `    [plugins.${quote(plugin)}.containerd.runtimes.${name}]
      runtime_type = "io.containerd.runc.v2"
      [plugins.${quote(plugin)}.containerd.runtimes.${name}.options]
        BinaryName = ${quote(runc)}
        SystemdCgroup = ${driver === 'systemd'}
`,
    )
    .join('')

const sandboxImage = 'registry.k8s.io/pause:3.10.2'

/** Without CAP_SYS_RESOURCE no process may get a lower oom_score_adj than containerd's own: it is raised instead. */
const shared = `  disable_apparmor = true
  restrict_oom_score_adj = true
  tolerate_missing_hugetlb_controller = true
  enable_unprivileged_ports = true
  enable_unprivileged_icmp = true
`

const version2 = (settings: ContainerdSettings): string => {
  const { directory } = settings
  const cri = 'io.containerd.grpc.v1.cri'
  return `${head(2)}[plugins.${quote(cri)}]
  sandbox_image = ${quote(sandboxImage)}
${shared}  [plugins.${quote(cri)}.cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = ${quote(`${directory}/net.d`)}
  [plugins.${quote(cri)}.registry]
    config_path = ${quote(`${directory}/registries`)}
  [plugins.${quote(cri)}.containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
${handlers(cri, settings)}`
}

const version3 = (settings: ContainerdSettings): string => {
  const { directory, collectPeriod } = settings
  const collect = collectPeriod === undefined ? '' : `  stats_collect_period = ${quote(collectPeriod)}\n`
  const images = 'io.containerd.cri.v1.images'
  const cri = 'io.containerd.cri.v1.runtime'
  return `${head(3)}[plugins.${quote(images)}]
  snapshotter = "overlayfs"
  [plugins.${quote(images)}.pinned_images]
    sandbox = ${quote(sandboxImage)}
  [plugins.${quote(images)}.registry]
    config_path = ${quote(`${directory}/registries`)}
[plugins.${quote(cri)}]
${collect}${shared}  [plugins.${quote(cri)}.cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = ${quote(`${directory}/net.d`)}
  [plugins.${quote(cri)}.containerd]
    default_runtime_name = "runc"
${handlers(cri, settings)}`
}

export const formatConfig = (runtime: RuntimeName, settings: ContainerdSettings): string =>
  runtime === 'containerd-2' ? version3(settings) : version2(settings)
