// The command line of `keelson cri` as one checked value.

import type { CgroupDriver } from '../../core/cgroup-name.js'
import { isCgroupDriverName } from '../../core/decide-driver.js'
import { fail } from '../../core/errors.js'
import type { Mode } from '../../criserver/services.js'

/** As commander gives them. */
export interface CriFlags {
  readonly upstream: string
  readonly imageUpstream?: string
  readonly listen: string
  readonly mode: string
  readonly cgroupDriver?: string
  readonly runtimeConfig?: string
  readonly address: string
  readonly port: string
  readonly kubeconfig?: string
  readonly certDir: string
  readonly tokenFile: string
  readonly loggingFormat: string
  readonly v: string
}

export interface CriOptions extends Omit<CriFlags, 'mode' | 'cgroupDriver' | 'port' | 'loggingFormat' | 'v'> {
  readonly mode: Mode
  readonly cgroupDriver: CgroupDriver | undefined
  /** 0: no HTTP server. */
  readonly port: number
  readonly logFormat: 'text' | 'json'
  readonly isDebug: boolean
}

const refuse = (flag: string, value: string, wanted: string): Error =>
  fail('usage.invalid', `--${flag} ${value}: ${wanted}`)

/** klog's convention: 4 is debugging. */
const debugVerbosity = 4

export function checkFlags(flags: CriFlags): CriOptions {
  const { mode, cgroupDriver, port, loggingFormat, v, ...rest } = flags
  if (mode !== 'complete' && mode !== 'observe') throw refuse('mode', mode, 'give complete or observe')
  if (cgroupDriver !== undefined && !isCgroupDriverName(cgroupDriver))
    throw refuse('cgroup-driver', cgroupDriver, 'give systemd or cgroupfs')
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw refuse('port', port, 'give 0 to 65535')
  if (loggingFormat !== 'text' && loggingFormat !== 'json')
    throw refuse('logging-format', loggingFormat, 'give text or json')
  return {
    ...rest,
    mode,
    cgroupDriver,
    port: Number(port),
    logFormat: loggingFormat,
    isDebug: Number(v) >= debugVerbosity,
  }
}
