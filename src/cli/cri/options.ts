// The command line of `keelson cri` as one checked value.
import { existsSync, realpathSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseEndpoint } from '../../adapters/cri/endpoint.js'
import type { CgroupDriver } from '../../core/cgroup/name.js'
import { type ValuesMode, valuesModes } from '../../core/cri/values-mode.js'
import { isCgroupDriverName } from '../../core/driver/decide-driver.js'
import { asKeelsonError, keelsonError } from '../../core/errors.js'
import type { Mode } from '../../criserver/services.js'
import type { ServeSettings } from '../../serve/settings.js'
import type { Io } from '../io.js'
import { checkServerFlags, type ServerFlags, serverSettings } from '../server-flags.js'

/** As commander gives them. */
export interface CriFlags extends ServerFlags {
  readonly runtimeEndpoint: string
  readonly imageEndpoint?: string
  readonly listen: string
  readonly mode: string
  readonly values: string
  readonly cgroupDriver?: string
  readonly runtimeConfig?: string
  readonly kubeconfig?: string
  readonly nodeName?: string
  readonly cgroupMount?: string
  readonly procMount?: string
  readonly logFormat: string
  readonly v: string
}

/** What the server itself needs. */
export interface CriServerOptions
  extends Pick<
    CriFlags,
    | 'runtimeEndpoint'
    | 'imageEndpoint'
    | 'listen'
    | 'runtimeConfig'
    | 'kubeconfig'
    | 'cgroupMount'
    | 'procMount'
  > {
  readonly mode: Mode
  readonly values: ValuesMode
  readonly cgroupDriver: CgroupDriver | undefined
  /** Undefined: no HTTPS server. */
  readonly serve: ServeSettings | undefined
}

export interface CriOptions extends CriServerOptions {
  readonly logFormat: 'text' | 'json'
  readonly isDebug: boolean
}

const refuse = (flag: string, value: string, wanted: string): Error =>
  keelsonError('usage.invalid', `--${flag} ${value}: ${wanted}`)

/** klog's convention: 4 is debugging. */
const debugVerbosity = 4

/** The socket of an endpoint, with the links of its directory resolved. */
function readSocketPath(name: string, endpoint: string): string {
  try {
    const { socketPath } = parseEndpoint(endpoint)
    const directory = dirname(socketPath)
    return existsSync(directory) ? join(realpathSync(directory), basename(socketPath)) : socketPath
  } catch (e) {
    throw keelsonError('usage.invalid', `${name} ${endpoint}: ${asKeelsonError(e).message}`)
  }
}

interface NamedEndpoint {
  /** As the user wrote it: a flag, or a field of a file. */
  readonly name: string
  readonly endpoint: string | undefined
}

/** While a runtime is down its path is free: the server would listen there and call itself. */
export function checkEndpoints(listen: NamedEndpoint, runtimes: readonly NamedEndpoint[]): void {
  const own = readSocketPath(listen.name, listen.endpoint ?? '')
  for (const { name, endpoint } of runtimes)
    if (endpoint !== undefined && readSocketPath(name, endpoint) === own)
      throw keelsonError(
        'usage.invalid',
        `${listen.name} ${listen.endpoint}: that is ${name}; choose another socket to listen on`,
      )
}

function checkMounts({ cgroupMount, procMount }: CriFlags): void {
  if (cgroupMount !== undefined && !existsSync(join(cgroupMount, 'cgroup.controllers')))
    throw refuse('cgroup-mount', cgroupMount, 'no cgroup v2 is mounted there; name its mount point')
  if (procMount !== undefined && !existsSync(join(procMount, 'self')))
    throw refuse('proc-mount', procMount, 'no proc is mounted there; name its mount point')
}

export function checkFlags(flags: CriFlags, env: Io['env']): CriOptions {
  const { mode, values, cgroupDriver, logFormat, v, ...rest } = flags
  if (mode !== 'complete' && mode !== 'observe') throw refuse('mode', mode, 'use complete or observe')
  const valuesMode = valuesModes.find((known) => known === values)
  if (valuesMode === undefined) throw refuse('values', values, 'use repair, kernel or trust')
  if (cgroupDriver !== undefined && !isCgroupDriverName(cgroupDriver))
    throw refuse('cgroup-driver', cgroupDriver, 'use systemd or cgroupfs')
  if (logFormat !== 'text' && logFormat !== 'json') throw refuse('log-format', logFormat, 'use text or json')
  if (!/^\d{1,2}$/.test(v)) throw refuse('v', v, 'use a number from 0 to 10')
  checkEndpoints({ name: '--listen', endpoint: flags.listen }, [
    { name: '--runtime-endpoint', endpoint: flags.runtimeEndpoint },
    { name: '--image-endpoint', endpoint: flags.imageEndpoint },
  ])
  checkMounts(flags)
  checkServerFlags(flags)
  const nodeName = flags.nodeName ?? env['NODE_NAME'] ?? hostname()
  const serve = serverSettings(flags, 'cri', nodeName.trim().toLowerCase())
  return {
    ...rest,
    mode,
    values: valuesMode,
    cgroupDriver,
    serve: serve.port === 0 ? undefined : serve,
    logFormat,
    isDebug: Number(v) >= debugVerbosity,
  }
}
