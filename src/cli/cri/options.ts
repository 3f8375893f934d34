// The command line of `keelson cri` as one checked value.
import { existsSync, realpathSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseEndpoint } from '../../adapters/cri/endpoint.js'
import type { CgroupDriver } from '../../core/cgroup/name.js'
import { isCgroupDriverName } from '../../core/driver/decide-driver.js'
import { asKeelsonError, keelsonError } from '../../core/errors.js'
import type { Mode } from '../../criserver/services.js'
import type { ServeSettings } from '../../serve/settings.js'
import type { Io } from '../io.js'
import { checkServerFlags, type ServerFlags, serverSettings } from '../server-flags.js'

/** As commander gives them. */
export interface CriFlags extends ServerFlags {
  readonly upstream: string
  readonly imageUpstream?: string
  readonly listen: string
  readonly mode: string
  readonly cgroupDriver?: string
  readonly runtimeConfig?: string
  readonly kubeconfig?: string
  readonly nodeName?: string
  readonly cgroupMount?: string
  readonly procMount?: string
  readonly loggingFormat: string
  readonly v: string
}

export interface CriOptions
  extends Pick<
    CriFlags,
    'upstream' | 'imageUpstream' | 'listen' | 'runtimeConfig' | 'kubeconfig' | 'cgroupMount' | 'procMount'
  > {
  readonly mode: Mode
  readonly cgroupDriver: CgroupDriver | undefined
  /** Of the HTTPS server; port 0: there is none. */
  readonly serve: ServeSettings
  readonly logFormat: 'text' | 'json'
  readonly isDebug: boolean
}

const refuse = (flag: string, value: string, wanted: string): Error =>
  keelsonError('usage.invalid', `--${flag} ${value}: ${wanted}`)

/** klog's convention: 4 is debugging. */
const debugVerbosity = 4

/** The socket of an endpoint, by the one name that it has however links lead there. */
function readSocketPath(flag: string, endpoint: string): string {
  try {
    const { socketPath } = parseEndpoint(endpoint)
    const directory = dirname(socketPath)
    return existsSync(directory) ? join(realpathSync(directory), basename(socketPath)) : socketPath
  } catch (e) {
    throw refuse(flag, endpoint, asKeelsonError(e).message)
  }
}

function checkEndpoints({ listen, upstream, imageUpstream }: CriFlags): void {
  const own = readSocketPath('listen', listen)
  const others = { upstream, ...(imageUpstream === undefined ? {} : { 'image-upstream': imageUpstream }) }
  // While the runtime is away its path is free: we would take it and call ourselves.
  for (const [flag, endpoint] of Object.entries(others))
    if (readSocketPath(flag, endpoint) === own)
      throw refuse('listen', listen, `that is --${flag}; clients need a socket of their own`)
}

function checkMounts({ cgroupMount, procMount }: CriFlags): void {
  if (cgroupMount !== undefined && !existsSync(join(cgroupMount, 'cgroup.controllers')))
    throw refuse('cgroup-mount', cgroupMount, 'there is no cgroup v2; give the directory where it is mounted')
  if (procMount !== undefined && !existsSync(join(procMount, 'self')))
    throw refuse('proc-mount', procMount, 'there is no proc; give the directory where it is mounted')
}

export function checkFlags(flags: CriFlags, env: Io['env']): CriOptions {
  const { mode, cgroupDriver, loggingFormat, v, ...rest } = flags
  if (mode !== 'complete' && mode !== 'observe') throw refuse('mode', mode, 'give complete or observe')
  if (cgroupDriver !== undefined && !isCgroupDriverName(cgroupDriver))
    throw refuse('cgroup-driver', cgroupDriver, 'give systemd or cgroupfs')
  if (loggingFormat !== 'text' && loggingFormat !== 'json')
    throw refuse('logging-format', loggingFormat, 'give text or json')
  if (!/^\d{1,2}$/.test(v)) throw refuse('v', v, 'give a number, 0 to 10')
  checkEndpoints(flags)
  checkMounts(flags)
  checkServerFlags(flags)
  const nodeName = flags.nodeName ?? env['NODE_NAME'] ?? hostname()
  return {
    ...rest,
    mode,
    cgroupDriver,
    serve: serverSettings(flags, 'cri', nodeName.trim().toLowerCase()),
    logFormat: loggingFormat,
    isDebug: Number(v) >= debugVerbosity,
  }
}
