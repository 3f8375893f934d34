// The command line of `keelson cri` as one checked value.
import { hostname } from 'node:os'
import type { CgroupDriver } from '../../core/cgroup-name.js'
import { isCgroupDriverName } from '../../core/decide-driver.js'
import { fail } from '../../core/errors.js'
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
  fail('usage.invalid', `--${flag} ${value}: ${wanted}`)

/** klog's convention: 4 is debugging. */
const debugVerbosity = 4

export function checkFlags(flags: CriFlags, env: Io['env']): CriOptions {
  const { mode, cgroupDriver, loggingFormat, v, ...rest } = flags
  if (mode !== 'complete' && mode !== 'observe') throw refuse('mode', mode, 'give complete or observe')
  if (cgroupDriver !== undefined && !isCgroupDriverName(cgroupDriver))
    throw refuse('cgroup-driver', cgroupDriver, 'give systemd or cgroupfs')
  if (loggingFormat !== 'text' && loggingFormat !== 'json')
    throw refuse('logging-format', loggingFormat, 'give text or json')
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
