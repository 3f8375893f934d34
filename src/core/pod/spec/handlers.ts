// What a kubelet does in a container's lifecycle: probes, hooks and rules for its restart; their shape and their reading.
import type { FieldReader } from './read-fields.js'

/** A number, or the name of one of the container's ports. */
export type Port = number | string

export interface HttpGet {
  readonly path: string
  readonly port: Port
  /** Undefined: the pod's address. */
  readonly host: string | undefined
  readonly scheme: 'HTTP' | 'HTTPS'
  readonly headers: readonly { readonly name: string; readonly value: string }[]
}

type Exec = { readonly kind: 'exec'; readonly command: readonly string[] }
type Get = { readonly kind: 'httpGet'; readonly get: HttpGet }

type ProbeAction =
  | Exec
  | Get
  | { readonly kind: 'tcpSocket'; readonly port: Port; readonly host: string | undefined }
  | { readonly kind: 'grpc'; readonly port: number; readonly service: string }

export interface Probe {
  readonly action: ProbeAction
  readonly initialDelaySeconds: number
  readonly timeoutSeconds: number
  readonly periodSeconds: number
  readonly successThreshold: number
  readonly failureThreshold: number
  /** Of the container that it kills; undefined: the pod's. */
  readonly terminationGracePeriodSeconds: number | undefined
}

export const probeTypes = ['startup', 'readiness', 'liveness'] as const
export type ProbeType = (typeof probeTypes)[number]
export type Probes = Readonly<Partial<Record<ProbeType, Probe>>>

export type HookAction = Exec | Get | { readonly kind: 'sleep'; readonly seconds: number }

export interface Hooks {
  readonly postStart?: HookAction
  readonly preStop?: HookAction
}

export interface RestartRule {
  readonly action: 'Restart' | 'RestartAllContainers'
  readonly operator: 'In' | 'NotIn'
  readonly exitCodes: readonly number[]
}

const maxInt32 = 2 ** 31 - 1
const atLeastOne = { min: 1, max: maxInt32 }

/** An init container that ends has nothing to probe and no hooks. */
function refuseForInit(given: FieldReader, isInit: boolean, keys: readonly string[]): boolean {
  if (!isInit) return false
  for (const key of keys)
    if (given.raw(key) !== undefined)
      given.problem(key, 'is given on an init container', 'remove it, or set restartPolicy: Always')
  return true
}

export function readProbes(given: FieldReader, isInit: boolean): Probes {
  if (
    refuseForInit(
      given,
      isInit,
      probeTypes.map((type) => `${type}Probe`),
    )
  )
    return {}
  const read = probeTypes.flatMap((type) => {
    const probe = readProbe(given.object(`${type}Probe`), type)
    return probe === undefined ? [] : [[type, probe] as const]
  })
  return Object.fromEntries(read)
}

function readProbe(given: FieldReader | undefined, type: ProbeType): Probe | undefined {
  if (given === undefined) return undefined
  const grace = given.whole('terminationGracePeriodSeconds', atLeastOne)
  if (grace !== undefined && type === 'readiness')
    given.problem('terminationGracePeriodSeconds', 'is given on a readiness probe', 'remove it')
  const settings = {
    initialDelaySeconds: given.whole('initialDelaySeconds', { min: 0, max: maxInt32 }) ?? 0,
    timeoutSeconds: orDefault(given.whole('timeoutSeconds', { min: 0, max: maxInt32 }), 1),
    periodSeconds: orDefault(given.whole('periodSeconds', { min: 0, max: maxInt32 }), 10),
    successThreshold: orDefault(given.whole('successThreshold', { min: 0, max: maxInt32 }), 1),
    failureThreshold: orDefault(given.whole('failureThreshold', { min: 0, max: maxInt32 }), 3),
    terminationGracePeriodSeconds: grace,
  }
  if (settings.successThreshold !== 1 && type !== 'readiness')
    given.problem('successThreshold', `is ${settings.successThreshold}`, `use 1 for a ${type} probe`)
  const action = readAction(given, {
    exec: readExec,
    httpGet: readGet,
    tcpSocket: readTcpSocket,
    grpc: readGrpc,
  })
  given.close()
  return action === undefined ? undefined : { action, ...settings }
}

/** As API defaulting does it: 0 is not set. */
const orDefault = (value: number | undefined, fallback: number): number => (value ? value : fallback)

export function readHooks(given: FieldReader, isInit: boolean): Hooks {
  if (refuseForInit(given, isInit, ['lifecycle'])) return {}
  const lifecycle = given.object('lifecycle')
  if (lifecycle === undefined) return {}
  lifecycle.refuse({ stopSignal: 'this node sends the stop signal of the image' })
  const read = (['postStart', 'preStop'] as const).flatMap((key) => {
    const hook = lifecycle.object(key)
    if (hook === undefined) return []
    hook.refuse({ tcpSocket: 'a hook sends nothing to a TCP socket' })
    const action = readAction(hook, { exec: readExec, httpGet: readGet, sleep: readSleep })
    hook.close()
    return action === undefined ? [] : [[key, action] as const]
  })
  lifecycle.close()
  return Object.fromEntries(read)
}

/** Exactly one of the handlers. */
function readAction<T>(
  given: FieldReader,
  readers: Readonly<Record<string, (handler: FieldReader) => T>>,
): T | undefined {
  const names = Object.keys(readers)
  const present = names.filter((name) => given.raw(name) !== undefined)
  const [name] = present
  if (present.length !== 1 || name === undefined) {
    given.problem('', `names ${present.length} handlers`, `give one of ${names.join(', ')}`)
    return undefined
  }
  const handler = given.object(name)
  const read = handler === undefined ? undefined : readers[name]?.(handler)
  handler?.close()
  return read
}

function readExec(given: FieldReader): Exec {
  const command = given.texts('command')
  if (command.length === 0) given.problem('command', 'is empty', 'name a program')
  return { kind: 'exec', command }
}

/** What Go's net/http takes as the name of a header. */
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/

function readGet(given: FieldReader): Get {
  const headers = given.objects('httpHeaders').flatMap((header) => {
    const name = header.text('name', { required: true, pattern: headerName, looksLike: 'a header name' })
    const value = header.text('value', { maxLength: 8192 }) ?? ''
    header.close()
    return name === undefined ? [] : [{ name, value }]
  })
  const path = given.text('path', { maxLength: 8192 }) ?? '/'
  return {
    kind: 'httpGet',
    get: {
      path,
      port: readPort(given),
      host: readHost(given),
      scheme: given.choice('scheme', ['HTTP', 'HTTPS']) ?? 'HTTP',
      headers,
    },
  }
}

const readHost = (given: FieldReader): string | undefined =>
  given.text('host', { pattern: /^[A-Za-z0-9.:_-]{1,253}$/, looksLike: 'a host name or an address' })

const readTcpSocket = (given: FieldReader): ProbeAction => ({
  kind: 'tcpSocket',
  port: readPort(given),
  host: readHost(given),
})

const readGrpc = (given: FieldReader): ProbeAction => ({
  kind: 'grpc',
  port: given.whole('port', { min: 1, max: 65_535 }) ?? missing(given, 'port', 0),
  service: given.text('service', { maxLength: 4096 }) ?? '',
})

const readSleep = (given: FieldReader): HookAction => ({
  kind: 'sleep',
  seconds: given.whole('seconds', { min: 0, max: maxInt32 }) ?? missing(given, 'seconds', 0),
})

function missing<T>(given: FieldReader, key: string, value: T): T {
  if (given.raw(key) === undefined) given.problem(key, 'is missing', 'give it')
  return value
}

function readPort(given: FieldReader): Port {
  const value = given.raw('port')
  if (typeof value === 'number') return given.whole('port', { min: 1, max: 65_535 }) ?? 0
  return (
    given.text('port', {
      required: true,
      pattern: /^(?=.*[a-z])[a-z0-9](?:[a-z0-9-]{0,13}[a-z0-9])?$/,
      looksLike: 'a number, or the name of a port',
    }) ?? ''
  )
}

/** Of app and init containers; a sidecar's is Always. */
export function readRestartRules(given: FieldReader, hasPolicy: boolean): readonly RestartRule[] {
  const rules = given.objects('restartPolicyRules')
  if (rules.length > 0 && !hasPolicy)
    given.problem('restartPolicyRules', 'is given without restartPolicy', 'set restartPolicy beside it')
  if (rules.length > 20) given.problem('restartPolicyRules', 'has more than 20 rules', 'keep 20')
  return rules.flatMap((rule) => {
    const action = rule.choice('action', ['Restart', 'RestartAllContainers'])
    if (action === undefined) missing(rule, 'action', undefined)
    const codes = rule.object('exitCodes')
    if (codes === undefined) missing(rule, 'exitCodes', undefined)
    const operator = codes?.choice('operator', ['In', 'NotIn'])
    if (codes !== undefined && operator === undefined) missing(codes, 'operator', undefined)
    const exitCodes = codes?.wholes('values', { min: 0, max: 255 }) ?? []
    codes?.close()
    rule.close()
    return action === undefined || operator === undefined ? [] : [{ action, operator, exitCodes }]
  })
}
