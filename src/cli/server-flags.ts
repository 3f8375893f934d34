// The HTTPS server's settings on a command line, for the commands that read no KubeletConfiguration: companion and CRI
// server. Names and meanings are those of the upstream kubelet's flags; the defaults are the closed ones of its file.
import { type Command, Option } from 'commander'
import { keelsonError } from '../core/errors.js'
import { formatGoDuration, parseGoDuration } from '../core/units/go-duration.js'
import { type AuthorizationMode, defaultSettings, type ServeSettings } from '../serve/settings.js'
import { decideTlsPolicy } from '../serve/tls-policy.js'

/** As commander gives them, checked one by one. */
export interface ServerFlags {
  readonly address: string
  readonly port?: number
  readonly healthzBindAddress: string
  readonly healthzPort: number
  readonly certDir: string
  readonly tokenFile: string
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  readonly tlsMinVersion: string
  readonly tlsCipherSuites?: readonly string[]
  readonly clientCaFile?: string
  readonly anonymousAuth: boolean
  readonly authenticationTokenWebhook: boolean
  readonly authenticationTokenWebhookCacheTtl: number
  readonly authorizationMode: AuthorizationMode
  readonly authorizationWebhookCacheAuthorizedTtl: number
  readonly authorizationWebhookCacheUnauthorizedTtl: number
}

type ServerProcess = 'companion' | 'cri'

const refuse = (flag: string, value: string, wanted: string): Error =>
  keelsonError('usage.invalid', `--${flag} ${value}: ${wanted}`)

const readPort =
  (flag: string) =>
  (value: string): number => {
    if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535) throw refuse(flag, value, 'use 0 to 65535')
    return Number(value)
  }

/** The words that Go's flags take. */
const booleans: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(['true', 'TRUE', 'True', 't', 'T', '1'].map((word) => [word, true])),
  ...Object.fromEntries(['false', 'FALSE', 'False', 'f', 'F', '0'].map((word) => [word, false])),
}

const readBoolean =
  (flag: string) =>
  (value: string): boolean => {
    const read = Object.hasOwn(booleans, value) ? booleans[value] : undefined
    if (read === undefined) throw refuse(flag, value, 'use true or false')
    return read
  }

const nanosPerMs = 1_000_000n

const readDuration =
  (flag: string) =>
  (value: string): number => {
    const nanos = parseGoDuration(value)
    if (nanos === undefined || nanos < 0n) throw refuse(flag, value, 'use a duration such as 2m0s')
    return Number(nanos / nanosPerMs)
  }

const text = (flag: string, placeholder: string, about: string): Option =>
  new Option(`--${flag} <${placeholder}>`, about)
const port = (flag: string, about: string): Option => text(flag, 'port', about).argParser(readPort(flag))
const boolean = (flag: string, about: string, standard: boolean): Option =>
  new Option(`--${flag} [boolean]`, about).argParser(readBoolean(flag)).default(standard)
const duration = (flag: string, about: string, standardMs: number): Option =>
  text(flag, 'duration', about)
    .argParser(readDuration(flag))
    .default(standardMs, formatGoDuration(BigInt(standardMs) * nanosPerMs))

/** `portFrom`: where the default port comes from, if not from the process. */
export function addServerOptions(command: Command, process: ServerProcess, portFrom?: string): Command {
  const standard = defaultSettings(process, '')
  const main = port(
    'port',
    `port of the HTTPS server; 0: off${portFrom === undefined ? '' : ` (default: ${portFrom})`}`,
  )
  if (portFrom === undefined) main.default(standard.port)
  const { authorization, tokenReview } = standard
  const options = [
    text('address', 'address', 'address of the HTTPS server').default(standard.address),
    main,
    text('healthz-bind-address', 'address', 'address of /healthz, without TLS').default(
      standard.healthzAddress,
    ),
    port('healthz-port', 'port of /healthz, without TLS; 0: off').default(standard.healthzPort),
    text('tls-cert-file', 'file', 'serving certificate (default: self-signed)'),
    text('tls-private-key-file', 'file', 'private key of the serving certificate'),
    text('cert-dir', 'directory', 'directory of the self-signed certificate').default(standard.certDirectory),
    text('tls-min-version', 'version', 'minimum TLS version')
      .choices(['VersionTLS12', 'VersionTLS13'])
      .default(standard.tlsMinVersion),
    text(
      'tls-cipher-suites',
      'names',
      'cipher suites of TLS 1.2, separated by commas (default: all with forward secrecy)',
    ).argParser((value) => value.split(',').filter((name) => name !== '')),
    text('client-ca-file', 'file', 'CA bundle for client certificates; the CN is the user name'),
    boolean('anonymous-auth', 'allow requests without credentials, as system:anonymous', standard.anonymous),
    boolean(
      'authentication-token-webhook',
      'authenticate bearer tokens with TokenReview',
      tokenReview.enabled,
    ),
    duration(
      'authentication-token-webhook-cache-ttl',
      'how long token reviews are cached',
      tokenReview.cacheTtlMs,
    ),
    text('authorization-mode', 'mode', 'Webhook: authorize requests with SubjectAccessReview')
      .choices(['Webhook', 'AlwaysAllow'])
      .default(authorization.mode),
    duration(
      'authorization-webhook-cache-authorized-ttl',
      'how long allowed requests are cached',
      authorization.allowTtlMs,
    ),
    duration(
      'authorization-webhook-cache-unauthorized-ttl',
      'how long denied requests are cached',
      authorization.denyTtlMs,
    ),
    text('token-file', 'file', 'file of the local token, used without an API server').default(
      standard.localTokenFile,
    ),
  ]
  for (const option of options) command.addOption(option)
  return command
}

/** What must fit together; each flag alone was checked when it was read. */
export function checkServerFlags(flags: ServerFlags): void {
  if ((flags.tlsCertFile === undefined) !== (flags.tlsPrivateKeyFile === undefined))
    throw keelsonError('usage.invalid', '--tls-cert-file and --tls-private-key-file: give both or none')
  if (flags.healthzPort !== 0 && flags.healthzPort === flags.port)
    throw refuse('healthz-port', String(flags.healthzPort), 'it is also --port; choose another')
  decideTlsPolicy(flags.tlsMinVersion, flags.tlsCipherSuites ?? [])
}

const given = <K extends string>(key: K, value: string | undefined): { readonly [P in K]?: string } =>
  value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: string })

export function serverSettings(flags: ServerFlags, process: ServerProcess, nodeName: string): ServeSettings {
  const standard = defaultSettings(process, nodeName)
  return {
    ...standard,
    address: flags.address,
    port: flags.port ?? standard.port,
    healthzAddress: flags.healthzBindAddress,
    healthzPort: flags.healthzPort,
    certDirectory: flags.certDir,
    localTokenFile: flags.tokenFile,
    ...given('tlsCertFile', flags.tlsCertFile),
    ...given('tlsPrivateKeyFile', flags.tlsPrivateKeyFile),
    tlsMinVersion: flags.tlsMinVersion,
    tlsCipherSuites: flags.tlsCipherSuites ?? [],
    ...given('clientCAFile', flags.clientCaFile),
    anonymous: flags.anonymousAuth,
    tokenReview: {
      enabled: flags.authenticationTokenWebhook,
      cacheTtlMs: flags.authenticationTokenWebhookCacheTtl,
    },
    authorization: {
      mode: flags.authorizationMode,
      allowTtlMs: flags.authorizationWebhookCacheAuthorizedTtl,
      denyTtlMs: flags.authorizationWebhookCacheUnauthorizedTtl,
    },
  }
}
