// Which specs of e2e_node.test belong to which piece of a kubelet's work, by the source file that they stand in. Everything
// needs "nodes" and "pods". Names are without `_test.go` and `.go`.
export const groupNames = ['nodes', 'pods', 'objects', 'lifecycle', 'pressure', 'later'] as const
export type GroupName = (typeof groupNames)[number]

/** Folders of Kubernetes' test directory. */
export type SuiteFolder = 'e2e/common/network' | 'e2e/common/node' | 'e2e/common/storage' | 'e2e_node'

interface Group {
  readonly summary: string
  readonly files: Readonly<Partial<Record<SuiteFolder, readonly string[]>>>
}

export const groups: Readonly<Record<GroupName, Group>> = {
  nodes: {
    summary: 'the node itself: lease, status, cgroups of the node, metrics, Memory QoS',
    files: {
      'e2e/common/node': ['lease', 'node_lease', 'podtemplates'],
      e2e_node: [
        'cgroup_driver_from_cri',
        'cgroup_reconciliation',
        'container_manager',
        'container_metrics',
        'density',
        'endpoints',
        'kubelet_config_dir',
        'kubelet_server_tls',
        'kubelet_tls',
        'lock_contention_linux',
        'memory_qos',
        'node_container_manager',
        'os_label_rename',
        'pods_container_manager',
        'resource_metrics',
        'resource_usage',
        'standalone',
        'summary',
      ],
    },
  },
  pods: {
    summary: 'pods from the API: containers, security, names, networks, mirror pods',
    files: {
      'e2e/common/network': ['networking'],
      'e2e/common/node': [
        'containers',
        'init_container',
        'kubelet',
        'kubelet_etc_hosts',
        'pod_admission',
        'pod_hostnameoverride',
        'pod_level_resources',
        'pods',
        'privileged',
        'runtime',
        'security_context',
        'sysctl',
      ],
      e2e_node: [
        'apparmor',
        'container_restart',
        'criproxy',
        'default_pod_sysctls',
        'deleted_pods',
        'hugepages_reporting',
        'hugepages',
        'image_id',
        'log_path',
        'mirror_pod_grace_period',
        'mirror_pod',
        'oomkiller_linux',
        'pids',
        'pod_conditions_criproxy_linux',
        'pod_conditions',
        'pod_host_ips',
        'pod_hostnamefqdn',
        'pod_ips',
        'pod_status',
        'pods_api',
        'pods_lifecycle_termination',
        'proc_mount',
        'restart',
        'runtime_conformance',
        'seccompdefault',
        'security_context',
        'static_pod',
        'terminate_pods',
        'unknown_pods',
      ],
    },
  },
  objects: {
    summary: 'volumes and environment from ConfigMaps, Secrets, downward API and disks',
    files: {
      'e2e/common/node': ['configmap', 'downwardapi', 'expansion', 'file_key', 'image_volume', 'secrets'],
      'e2e/common/storage': [
        'configmap_volume',
        'downwardapi',
        'downwardapi_volume',
        'empty_dir',
        'host_path',
        'projected_combined',
        'projected_configmap',
        'projected_downwardapi',
        'projected_secret',
        'secrets_volume',
      ],
      e2e_node: ['image_volume', 'mount_rro_linux', 'volume_manager'],
    },
  },
  lifecycle: {
    summary: 'probes, hooks, init containers and sidecars, restart rules, RuntimeClass',
    files: {
      'e2e/common/node': [
        'container_probe',
        'container_restart_policy',
        'ephemeral_containers',
        'image_credential_provider',
        'lifecycle_hook',
        'runtimeclass',
      ],
      e2e_node: [
        'container_lifecycle',
        'image_credential_pulls',
        'image_pull',
        'probe_stress',
        'restart_all_containers',
        'runtimeclass',
      ],
    },
  },
  pressure: {
    summary: 'eviction, garbage collection, log rotation, shutdown',
    files: {
      e2e_node: [
        'container_log_rotation',
        'critical_pod',
        'eviction',
        'garbage_collector',
        'image_gc',
        'node_shutdown_linux',
        'split_disk',
        'system_node_critical',
      ],
    },
  },
  later: {
    summary: 'devices, CPU and memory managers, resize, swap: not planned yet',
    files: {
      'e2e/common/node': ['dra_node_allocatable_resources', 'pod_level_resources_resize', 'pod_resize'],
      e2e_node: [
        'checkpoint_container',
        'cpu_manager_metrics',
        'cpu_manager',
        'device_manager',
        'device_plugin_failures_pod_status',
        'device_plugin_failures',
        'device_plugin_multiple',
        'device_plugin',
        'dra',
        'memory_manager_metrics',
        'memory_manager',
        'node_perf',
        'pod_resize_criproxy_linux',
        'podresources',
        'swap',
        'topology_manager_metrics',
        'topology_manager',
        'user_namespaces',
      ],
    },
  },
}

const byFile: ReadonlyMap<string, GroupName> = new Map(
  groupNames.flatMap((group) =>
    Object.entries(groups[group].files).flatMap(([folder, names]) =>
      names.map((name) => [`${folder}/${name}`, group] as const),
    ),
  ),
)

/** Group of a spec by the path of its source file; what no group names is for later. */
export function groupOf(path: string): GroupName {
  const match = /\/test\/(e2e(?:_node)?\/.+?)(?:_test)?\.go$/.exec(path)
  return byFile.get(match?.[1] ?? '') ?? 'later'
}
