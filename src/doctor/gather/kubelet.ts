// The kubelet of this node: its ports as a stranger sees them, and the files that must not be open to others.
import type { EffectiveConfig } from '../../config/effective.js'
import type { Diagnosis, PortAnswer, PortQuestion } from '../../ports/diagnosis.js'

/** Upstream's old default of the read-only port. */
const usualReadOnlyPort = 10255

/** Where to knock on an address that means "every address". */
const reachable = (address: string): string =>
  address === '0.0.0.0' || address === '' ? '127.0.0.1' : address === '::' ? '::1' : address

function portQuestions({ kubelet }: EffectiveConfig): readonly PortQuestion[] {
  const address = reachable(kubelet.address)
  const readOnly = kubelet.readOnlyPort > 0 ? kubelet.readOnlyPort : usualReadOnlyPort
  return [
    ...(kubelet.enableServer
      ? [{ what: 'kubelet' as const, address, port: kubelet.port, tls: true, path: '/pods' }]
      : []),
    { what: 'read-only', address, port: readOnly, tls: false, path: '/pods' },
    ...(kubelet.healthzPort > 0
      ? [
          {
            what: 'healthz' as const,
            address: reachable(kubelet.healthzBindAddress),
            port: kubelet.healthzPort,
            tls: false,
            path: '/healthz',
          },
        ]
      : []),
  ]
}

export const askPorts = (
  config: EffectiveConfig,
  diagnosis: Diagnosis,
  askMs: number,
): Promise<readonly PortAnswer[]> => Promise.all(portQuestions(config).map((q) => diagnosis.ask(q, askMs)))

export function kubeletFilePaths({ kubelet, process }: EffectiveConfig): readonly string[] {
  const rootDir = process['root-dir'] ?? '/var/lib/kubelet'
  const paths = [
    process.config ?? '/var/lib/kubelet/config.yaml',
    process.kubeconfig ?? '/etc/kubernetes/kubelet.conf',
    kubelet.authentication.x509.clientCAFile,
    kubelet.tlsPrivateKeyFile ?? `${rootDir}/pki/kubelet.key`,
    `${rootDir}/pki/kubelet-client-current.pem`,
    '/var/lib/keelson/token',
  ]
  return [...new Set(paths.filter((p) => p !== undefined))]
}
