// The text of `keelson kubelet --help`: flags in groups, each with the field it mirrors. Made from the same tables
// that parse the command line, so that a flag cannot be missing here.
import type { Effect } from '../../config/field.js'
import { fieldAt } from '../../config/field-at.js'
import { type FlagKind, type FlagRow, flagTable, otherFlags } from '../../config/flag-table.js'
import { kubeletSchema } from '../../config/kubelet-schema.js'
import { wrapWords } from '../help-layout.js'

type FlagName = keyof typeof flagTable

const processDocs: Readonly<Partial<Record<FlagName, string>>> = {
  config: 'file of kind KubeletConfiguration',
  'config-dir': 'directory of drop-ins (*.conf), merged over --config in name order',
  kubeconfig: 'identity of this node and its API server (default: none, standalone)',
  'bootstrap-kubeconfig': 'requests a client certificate when --kubeconfig is missing or has expired',
  'cert-dir': 'directory of certificates (default pki below --root-dir)',
  'cloud-provider': 'external: a cloud controller manager sets the addresses of the Node; empty: none',
  'node-labels': 'labels of the Node, set when it is created',
  'node-ip': 'addresses of this node, also in its serving certificate',
  'hostname-override': 'node name (default: the host name)',
  'image-credential-provider-config': 'file or directory of CredentialProviderConfig',
  'image-credential-provider-bin-dir': 'directory of the credential provider plugins',
  'runtime-cgroups': 'cgroup of the container runtime; default: found by its process',
  'root-dir': 'directory of the kubelet files (default /var/lib/kubelet)',
  'keelson-config': 'file of kind KeelsonConfiguration (default /etc/keelson/config.yaml, if it exists)',
  'kubernetes-version': 'Kubernetes release whose rules apply, such as 1.36 or v1.36.2',
  profile: 'kep or upstream: rules to follow where the KEPs and the releases differ',
  strict: 'treat unknown keys and settings without support as errors',
  'anonymous-auth': 'allow requests without credentials, as system:anonymous',
  'authorization-mode': 'authorization of requests: Webhook or AlwaysAllow',
}

const groups: readonly (readonly [string, RegExp])[] = [
  ['Keelson', /^(keelson-config|kubernetes-version|profile|strict)$/],
  [
    'Files and node',
    /^(config|config-dir|node-ip|hostname-override|root-dir|cert-dir|feature-gates|oom-score-adj|protect-kernel-defaults)$/,
  ],
  [
    'Cluster',
    /^(kubeconfig|bootstrap-kubeconfig|cloud-provider|node-labels|node-status|provider-id|register-|rotate-|enable-controller|event-)/,
  ],
  [
    'Container runtime',
    /^(container-runtime-endpoint|image-service-endpoint|image-credential-provider-|image-gc-|minimum-image-ttl|registry-|runtime-request-timeout|serialize-)/,
  ],
  [
    'Cgroups and reservations',
    /^(cgroup|kubelet-cgroups|runtime-cgroups|system-cgroups|cpu-cfs|enforce-|eviction-|fail-|kube-reserved|local-storage|system-reserved|pod-max-pids)/,
  ],
  [
    'Pods',
    /^(pod-manifest-path|file-check|sync-|max-pods|pods-per-core|container-log|resolv-conf|cluster-d|seccomp-|volume-stats|allowed-unsafe-sysctls)/,
  ],
  [
    'Server',
    /^(address|port|read-only-port|healthz|tls-|client-ca|enable-|streaming|anonymous|authentication|authorization)/,
  ],
  ['Log', /^(v|logging-format)$/],
]

export function formatKubeletHelp(): string {
  const names = (Object.keys(flagTable) as FlagName[]).filter((name) => effectOf(name) === 'honoured')
  const groupOf = (name: string): string => groups.find(([, members]) => members.test(name))?.[0] ?? 'Other'
  const titles = [...groups.map(([title]) => title), 'Other']
  const sections = titles.flatMap((title) => {
    const members = names.filter((name) => groupOf(name) === title)
    return members.length === 0 ? [] : [`${title}:\n${members.map(formatFlag).join('\n')}`]
  })
  return `${[intro, ...sections, withoutEffect(), examples].join('\n\n')}\n`
}

const intro = `Usage: keelson kubelet [flags]

The node agent. It uses the cgroup driver of the container runtime (KEP-4033) and serves health, configz and metrics.
Flags override the files. Flags that set a field of KubeletConfiguration are deprecated upstream; use the file.
--runtime-endpoint and --log-format of the other commands are accepted for --container-runtime-endpoint and
--logging-format, the kubelet's own names.`

const examples = `Examples:
  keelson kubelet --config /var/lib/kubelet/config.yaml
  keelson kubelet --config kubelet.yaml --kubernetes-version 1.34 --fail-cgroupv1=false
  keelson kubelet --container-runtime-endpoint unix:///run/crio/crio.sock --v 4

Exit status: 0 after SIGTERM or SIGINT, 2 for invalid flags or files, 1 if the start fails otherwise.`

const valueWord: Readonly<Record<FlagKind, string>> = {
  text: ' TEXT',
  int: ' NUMBER',
  bool: '',
  list: ' A,B',
  map: ' NAME=VALUE,...',
  thresholds: ' SIGNAL<VALUE,...',
  gates: ' GATE=true|false,...',
}

const textColumn = 44
const lineWidth = 110

function formatFlag(name: FlagName): string {
  const row: FlagRow = flagTable[name]
  const left = `  --${name}${valueWord[row.kind]}`
  const mirrors = row.field === undefined || row.field === name ? '' : ` [${row.field}]`
  const since = row.since === undefined ? '' : ` (since 1.${row.since})`
  const doc = `${docOf(name, row)}${mirrors}${since}`
  const [first = '', ...more] = wrapWords(doc, lineWidth - textColumn)
  const indent = ' '.repeat(textColumn)
  const head = left.length < textColumn ? left.padEnd(textColumn) : `${left}\n${indent}`
  return [`${head}${first}`, ...more.map((line) => `${indent}${line}`)].join('\n')
}

const docOf = (name: FlagName, row: FlagRow): string =>
  processDocs[name] ?? (row.field === undefined ? '' : (fieldAt(kubeletSchema, row.field)?.doc ?? ''))

const effectOf = (name: FlagName): Effect['kind'] => {
  const { field }: FlagRow = flagTable[name]
  return field === undefined ? 'honoured' : (fieldAt(kubeletSchema, field)?.effect.kind ?? 'honoured')
}

/** The others in two lists, without words: docs/config.md has the reasons. */
function withoutEffect(): string {
  const names = (kind: Effect['kind']): string[] => [
    ...(Object.keys(flagTable) as FlagName[]).filter((name) => effectOf(name) === kind),
    ...[...otherFlags].filter(([, { effect }]) => effect.kind === kind).map(([name]) => name),
  ]
  const list = (title: string, kind: Effect['kind']): string => {
    const lines = wrapWords(names(kind).sort().join(' '), lineWidth - 2)
    return `${title}\n${lines.map((l) => `  ${l}`).join('\n')}`
  }
  return [
    list(
      'Not supported; the kubelet warns at the start, or refuses to start with --strict (docs/config.md says why):',
      'missing',
    ),
    list('Accepted without effect, in the releases that have them:', 'harmless'),
  ].join('\n\n')
}
