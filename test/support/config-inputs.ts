// Inputs for tests of the configuration: files from text, and what came out in one line each.
import { type ConfigInput, type LoadedConfig, loadConfig } from '../../src/config/load.js'
import { formatFinding } from '../../src/config/origin.js'
import { isKeelsonError, type KeelsonError } from '../../src/core/errors.js'

export const encode = (text: string) => new TextEncoder().encode(text)
export const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
export const kubelet = (body: string, path = '/etc/k.yaml') => ({ path, bytes: encode(head + body) })
export const keelson = (body: string) => ({
  path: '/etc/keelson/config.yaml',
  bytes: encode(`apiVersion: keelson.dev/v1alpha1\nkind: KeelsonConfiguration\n${body}`),
})
export const version = (kubernetesVersion: string, profile?: string) => ({
  overrides: { kubernetesVersion, profile },
})
export const load = (body: string, more: ConfigInput = {}): LoadedConfig =>
  loadConfig({ kubelet: kubelet(body), ...more })
export const problems = (body: string, more: ConfigInput = {}) => load(body, more).problems.map(formatFinding)
export const warnings = (body: string, more: ConfigInput = {}) => load(body, more).warnings.map(formatFinding)

export function thrown(run: () => unknown): KeelsonError {
  try {
    run()
  } catch (e) {
    if (isKeelsonError(e)) return e
    throw e
  }
  throw new Error('nothing was thrown')
}
