// Compares what two tools left behind, item by item: each file, its mode, the annotation and each ConfigMap key.
import { parse } from 'yaml'
import type { NodeState } from './scenario.js'

export interface Difference {
  /** `config.yaml: clusterDNS`, `annotation`, `mode of kubeadm-flags.env`, ... */
  readonly item: string
  readonly kubeadm: string
  readonly keelson: string
}

const absent = '(absent)'
const show = (value: unknown): string =>
  value === undefined ? absent : typeof value === 'string' ? value : JSON.stringify(value)

function compareValue(item: string, kubeadm: unknown, keelson: unknown): Difference[] {
  const [left, right] = [show(kubeadm), show(keelson)]
  return left === right ? [] : [{ item, kubeadm: left, keelson: right }]
}

/** Mappings key by key, in sorted order, so that one difference is one line. */
function compareYaml(item: string, kubeadm: string | undefined, keelson: string | undefined): Difference[] {
  if (kubeadm === undefined || keelson === undefined) return compareValue(item, kubeadm, keelson)
  const [left, right] = [parseMapping(kubeadm), parseMapping(keelson)]
  if (left === undefined || right === undefined) return compareValue(item, kubeadm, keelson)
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])].sort()
  return keys.flatMap((key) => compareValue(`${item}: ${key}`, sorted(left[key]), sorted(right[key])))
}

function parseMapping(text: string): Record<string, unknown> | undefined {
  const value: unknown = parse(text, { version: '1.1' })
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

/** The order of keys means nothing in these documents. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([k, v]) => [k, sorted(v)]))
}

const baseName = (path: string): string => path.split('/').at(-1) ?? path

export function compareStates(kubeadm: NodeState, keelson: NodeState): Difference[] {
  const paths = [...new Set([...Object.keys(kubeadm.files), ...Object.keys(keelson.files)])].sort()
  const modes = [...new Set([...Object.keys(kubeadm.modes), ...Object.keys(keelson.modes)])].sort()
  return [
    ...paths.flatMap((path) => {
      const compare = path.endsWith('.yaml') ? compareYaml : compareValue
      return compare(baseName(path), kubeadm.files[path], keelson.files[path])
    }),
    ...modes.flatMap((path) =>
      compareValue(`mode of ${baseName(path)}`, kubeadm.modes[path], keelson.modes[path]),
    ),
    ...compareValue('files of /etc/kubernetes', kubeadm.kubernetesFiles, keelson.kubernetesFiles),
    ...compareValue('number of backups', kubeadm.backups.length, keelson.backups.length),
    ...compareValue('text of the backups', kubeadm.backups, keelson.backups),
    ...compareValue('annotation', kubeadm.annotation, keelson.annotation),
    ...compareYaml('ConfigMap kubelet-config', kubeadm.kubeletConfigMap, keelson.kubeletConfigMap),
    ...compareYaml('ConfigMap kubeadm-config', kubeadm.kubeadmConfigMap, keelson.kubeadmConfigMap),
  ]
}
