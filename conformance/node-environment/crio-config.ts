// Configuration of the environment's CRI-O.

interface CrioSettings {
  readonly directory: string
  readonly socket: string
  readonly driver: 'cgroupfs' | 'systemd'
  readonly conmon: string
  readonly pinns: string
  readonly runc: string
}

const quote = (text: string): string => JSON.stringify(text)

export const formatCrioConfig = (s: CrioSettings): string => `[crio]
root = "/var/lib/containers/storage"
runroot = "/run/containers/storage"
storage_driver = "overlay"
log_dir = "/var/log/crio/pods"
version_file = "/run/crio/version"
version_file_persist = ""
clean_shutdown_file = ""
[crio.api]
listen = ${quote(s.socket)}
[crio.runtime]
cgroup_manager = ${quote(s.driver)}
conmon_cgroup = ${quote(s.driver === 'systemd' ? 'system.slice' : 'pod')}
pinns_path = ${quote(s.pinns)}
default_runtime = "runc"
apparmor_profile = "unconfined"
enable_pod_events = true
irqbalance_config_restore_file = "disable"
[crio.runtime.runtimes.runc]
runtime_path = ${quote(s.runc)}
runtime_type = "oci"
runtime_root = "/run/runc"
monitor_path = ${quote(s.conmon)}
monitor_cgroup = ${quote(s.driver === 'systemd' ? 'system.slice' : 'pod')}
[crio.image]
pause_image = "registry.k8s.io/pause:3.10.2"
pause_command = "/pause"
signature_policy = ${quote(`${s.directory}/policy.json`)}
short_name_mode = "disabled"
[crio.network]
network_dir = ${quote(`${s.directory}/net.d`)}
plugin_dirs = ["/usr/lib/cni"]
[crio.stats]
included_pod_metrics = ["all"]
`

export const signaturePolicy = JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] })

/** Every registry that images of the suites name is the environment's own. */
export const formatRegistries = (address: string): string =>
  ['registry.k8s.io', 'gcr.io', 'docker.io', 'quay.io']
    .map(
      (host) => `[[registry]]
prefix = ${quote(host)}
location = ${quote(address)}
insecure = true
`,
    )
    .join('')

/**
 * runc behind what this host lacks: without CAP_SYS_RESOURCE no process may get a lower oom_score_adj than its own, and a
 * kernel without the hugetlb controller takes no limits of huge pages.
 */
export const formatRuncWrapper = (runc: string): string => `#!/bin/sh
own=$(cat /proc/self/oom_score_adj)
bundle=
for word; do
  [ "$last" = --bundle ] && bundle=$word
  last=$word
done
if [ -n "$bundle" ]; then
  file=$bundle/config.json
  asked=$(sed -n -E 's/.*"oomScoreAdj": *(-?[0-9]+).*/\\1/p' "$file" | head -n 1)
  [ "\${asked:-1000}" -ge "$own" ] || sed -i -E "s/\\"oomScoreAdj\\": *-?[0-9]+/\\"oomScoreAdj\\":$own/" "$file"
  sed -i -E 's/"hugepageLimits": *\\[[^]]*\\]/"hugepageLimits":[]/' "$file"
fi
exec ${runc} "$@"
`
