// From the effective configuration to what the HTTPS server is told.
import type { EffectiveConfig } from '../config/effective.js'
import { isGateEnabled } from '../core/release/gates.js'
import type { PodHost } from '../ports/pod-host.js'
import { defaultSettings, type ServeSettings } from '../serve/settings.js'

export const defaultRootDir = '/var/lib/kubelet'

/** As it was given; what is made of it while the kubelet runs comes from resolveRootDir. */
const givenRootDir = ({ process }: Pick<EffectiveConfig, 'process'>): string =>
  process['root-dir'] ?? defaultRootDir

/**
 * Without links, once for the whole life of the kubelet: the kernel names mounts by real paths, and a link that is
 * turned to another directory must not divide the node between two.
 */
export const resolveRootDir = (
  config: Pick<EffectiveConfig, 'process'>,
  host: Pick<PodHost, 'resolve'>,
): Promise<string> => host.resolve(givenRootDir(config))

export const certDirectory = ({ process }: Pick<EffectiveConfig, 'process'>, rootDir: string): string =>
  process['cert-dir'] ?? `${rootDir}/pki`

export function kubeletServeSettings(
  config: EffectiveConfig,
  nodeName: string,
  rootDir: string,
): ServeSettings {
  const { kubelet, process } = config
  const standard = defaultSettings('kubelet', nodeName)
  const { anonymous, webhook, x509 } = kubelet.authentication
  return {
    ...standard,
    address: kubelet.address,
    port: kubelet.port,
    readOnlyPort: kubelet.readOnlyPort,
    healthzAddress: kubelet.healthzBindAddress,
    healthzPort: kubelet.healthzPort,
    certDirectory: certDirectory(config, rootDir),
    // A second kubelet on one machine has a root directory of its own, and so a token of its own.
    localTokenFile:
      givenRootDir(config) === defaultRootDir ? standard.localTokenFile : `${rootDir}/keelson-token`,
    tlsMinVersion: kubelet.tlsMinVersion,
    tlsCipherSuites: kubelet.tlsCipherSuites ?? [],
    tlsCurvePreferences: kubelet.tlsCurvePreferences ?? [],
    ...given('tlsCertFile', kubelet.tlsCertFile),
    ...given('tlsPrivateKeyFile', kubelet.tlsPrivateKeyFile),
    ...given('clientCAFile', x509.clientCAFile),
    anonymous: anonymous.enabled,
    tokenReview: { enabled: webhook.enabled, cacheTtlMs: webhook.cacheTTL },
    authorization: {
      mode: kubelet.authorization.mode,
      allowTtlMs: kubelet.authorization.webhook.cacheAuthorizedTTL,
      denyTtlMs: kubelet.authorization.webhook.cacheUnauthorizedTTL,
    },
    hostNames: (process['node-ip'] ?? '').split(',').filter((ip) => ip !== ''),
    enableDebuggingHandlers: kubelet.enableDebuggingHandlers,
    fineGrainedAuthz: isGateEnabled(config.gates, 'KubeletFineGrainedAuthz'),
    requests: {
      ...standard.requests,
      longRunningTimeoutMs: kubelet.streamingConnectionIdleTimeout,
    },
  }
}

const given = <K extends string>(key: K, value: string | undefined): { readonly [P in K]?: string } =>
  value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: string })
