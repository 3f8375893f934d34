// The runtime endpoint that crictl uses on this machine, so that people configure it once.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Io } from './io.js'

const defaultFile = '/etc/crictl.yaml'
const maxBytes = 64 * 1024

/** Undefined: crictl is not configured here, or its file cannot be read; a default follows, as with crictl. */
export function crictlEndpoint(env: Io['env']): string | undefined {
  try {
    const text = readFileSync(env.CRI_CONFIG_FILE ?? defaultFile, 'utf8')
    if (text.length > maxBytes) return undefined
    const endpoint = (parse(text) as Readonly<Record<string, unknown>> | null)?.['runtime-endpoint']
    return typeof endpoint === 'string' && endpoint !== '' ? endpoint : undefined
  } catch {
    return undefined
  }
}
