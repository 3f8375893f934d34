// Suite `cgroup-driver` (KEP-4033): each case runs the kubelet's start-up against a scripted runtime on a unix socket
// and compares what an operator would see: log lines, waits, metric, Event, or the error that ends the start.

import type { GrpcCodeName } from '../../../src/core/cri/grpc-codes.js'
import { deprecatedFallbackLine } from '../../../src/core/driver/decide-driver.js'
import { asKeelsonError } from '../../../src/core/errors.js'
import type { AnswerOf } from '../../../src/fakes/cri/answers.js'
import { runtimeConfig } from '../../../src/fakes/cri/shapes.js'
import type { FakeKubeApi } from '../../../src/fakes/kube-api.js'
import { configuredDriverIgnoredLine, driverFromCriLine } from '../../../src/kubelet/driver/driver-report.js'
import type { RunningKubelet } from '../../../src/kubelet/start.js'
import {
  createKubeletFixture,
  type KubeletFixture,
  keelsonDocument,
  kubeletDocument,
  passingTime,
  version,
} from '../../support/kubelet-fixture.js'
import { compare } from '../compare.js'
import { type Difference, type Fields, fieldsAt, inputWithDefaults, isFields, type Suite } from '../types.js'

export const cgroupDriver: Suite = {
  suite: 'cgroup-driver',
  async run(vector, file) {
    const expected = fieldsAt(vector, 'expected')
    const got = await runCase(inputWithDefaults(vector, file, usual))
    const { errorContains, upstream: _, ...rest } = expected
    const wanted = { ...rest, ...asSets(rest) }
    return [...compare(wanted, { ...got, ...asSets(got) }), ...missingWords(errorContains, got.error)]
  },
}

const usual: Fields = {
  profile: 'seed',
  gate: null,
  flag: null,
  config: null,
  dropins: null,
  dropinEnvAlpha: false,
  os: 'linux',
  standalone: false,
  removedFlagPolicy: 'ignore',
}

const unordered = ['warnings', 'notices', 'events'] as const

const asSets = (of: Fields): Fields =>
  Object.fromEntries(
    unordered.flatMap((key) => {
      const list = of[key]
      return Array.isArray(list) ? [[key, [...list].sort()]] : []
    }),
  )

/** `DEADLINE_EXCEEDED` and `DeadlineExceeded` are the same word. */
const plain = (text: string): string => text.toLowerCase().replaceAll('_', '')

function missingWords(words: unknown, error: unknown): readonly Difference[] {
  if (!Array.isArray(words)) return []
  const text = plain(typeof error === 'string' ? error : '')
  return words
    .filter((word) => !text.includes(plain(String(word))))
    .map((word) => ({ path: 'errorContains', expected: word, got: error }))
}

async function runCase(input: Fields): Promise<Fields> {
  const cri = fieldsAt(input, 'cri')
  const fixture = await createKubeletFixture({
    os: input.os === 'windows' ? 'windows' : 'linux',
    scripts: {
      Version: cri.connect === 'ok' ? version : { code: cri.connect as GrpcCodeName },
      RuntimeConfig: (Array.isArray(cri.calls) ? cri.calls : []).map(answerOf),
    },
  })
  try {
    const env = input.dropinEnvAlpha === true ? { KUBELET_CONFIG_DROPIN_DIR_ALPHA: '1' } : {}
    const flags = await writeNode(fixture, input)
    let kubelet: RunningKubelet | undefined
    let error: string | undefined
    try {
      kubelet = await passingTime(fixture.clock, fixture.start(flags, env))
    } catch (e) {
      error = asKeelsonError(e).message
    }
    const delaysMs = [...fixture.clock.waits].filter((ms) => ms === 2000)
    // Events about the Node wait until it is registered.
    if (kubelet?.events !== undefined) await passingTime(fixture.clock, kubelet.events.idle())
    return { ...(await observe(fixture)), delaysMs, ...outcomeOf(kubelet), error }
  } finally {
    await fixture.close()
  }
}

const outcomeOf = (kubelet: RunningKubelet | undefined): Fields =>
  kubelet === undefined
    ? { outcome: 'exit', driver: null }
    : { outcome: 'start', driver: kubelet.driver.driver ?? null, source: kubelet.driver.source }

function answerOf(entry: unknown): AnswerOf<'RuntimeConfig'> {
  const said = isFields(entry) ? entry : {}
  if (said.driver === 'SYSTEMD') return runtimeConfig.systemd
  if (said.driver === 'CGROUPFS') return runtimeConfig.cgroupfs
  if (typeof said.enum === 'number') return runtimeConfig.unknownDriver(said.enum)
  if (said.linux === null) return runtimeConfig.absentLinux
  if (isFields(said.linux)) return runtimeConfig.emptyLinux
  if (typeof said.code === 'string') return { code: said.code as GrpcCodeName, message: 'scripted' }
  if (said.timeout === true) return { hang: true }
  if (said.transport === true) return { drop: 'before-headers' }
  throw new Error(`the answer ${JSON.stringify(entry)} is not supported`)
}

/** Only then the timeout is waited for in full; elsewhere a busy machine gets all the time it needs. */
function hangs(input: Fields): boolean {
  const { calls } = fieldsAt(input, 'cri')
  return Array.isArray(calls) && calls.some((entry) => isFields(entry) && entry.timeout === true)
}

/** The node's files and the kubelet's command line. */
async function writeNode(fixture: KubeletFixture, input: Fields): Promise<string[]> {
  const keelson = `${keelsonDocument}removedFlagPolicy: ${String(input.removedFlagPolicy)}\n`
  const flags = [
    `--keelson-config=${await fixture.write('keelson.yaml', keelson)}`,
    `--kubernetes-version=${String(input.kubeletVersion)}`,
    `--profile=${input.profile === 'upstream' ? 'upstream' : 'kep'}`,
    `--runtime-request-timeout=${hangs(input) ? '300ms' : '30s'}`,
    '--enable-server=false',
  ]
  const { config, flag, gate, dropins, standalone } = input
  if (config !== 'no-file') {
    const driver = config === null ? '' : `cgroupDriver: ${JSON.stringify(config)}\n`
    flags.push(`--config=${await fixture.write('config.yaml', kubeletDocument + driver)}`)
  }
  if (Array.isArray(dropins)) {
    for (const [path, text] of dropins) await fixture.write(`kubelet.conf.d/${path}`, text)
    flags.push(`--config-dir=${fixture.directory}/kubelet.conf.d`)
    await fixture.write('kubelet.conf.d/README', 'Only names that end in .conf count.\n')
  }
  if (flag !== null) flags.push(`--cgroup-driver=${String(flag)}`)
  if (gate !== null) flags.push(`--feature-gates=KubeletCgroupDriverFromCRI=${String(gate)}`)
  if (standalone !== true) flags.push('--kubeconfig=/etc/kubernetes/kubelet.conf')
  return flags
}

async function observe(fixture: KubeletFixture): Promise<Fields> {
  const said = new Set(fixture.log.lines.map((line) => `${line.level} ${line.message}`))
  const aboutFlag = fixture.log.lines.filter(
    (l) => l.level === 'warn' && l.message.includes('--cgroup-driver'),
  )
  const warnings = aboutFlag.map((line) => line.fields.id)
  if (said.has(`warn ${deprecatedFallbackLine}`)) warnings.push('deprecated-fallback')
  const notices = []
  if (said.has(`info ${driverFromCriLine}`)) notices.push('driver-from-cri')
  if (said.has(`info ${configuredDriverIgnoredLine}`)) notices.push('configured-driver-ignored')
  return {
    rpcCalls: fixture.runtime.callsOf('RuntimeConfig').length,
    warnings,
    notices,
    metrics: parseFamily((await fixture.metrics.text()).body, 'kubelet_cri_losing_support'),
    events: warningReasons(fixture.kubeApi),
  }
}

const warningReasons = (api: FakeKubeApi): readonly unknown[] =>
  [...api.objects]
    .filter(([path]) => path.startsWith('/api/v1/namespaces/default/events/'))
    .map(([, event]) => event as Fields)
    .filter(({ type }) => type === 'Warning')
    .map(({ reason }) => reason)

/** The samples of one family as a scraper would see them. */
function parseFamily(text: string, name: string): readonly Fields[] {
  const type = new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(text)?.[1]
  const samples = text.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))
  const found = [...samples].map(([, labels = '', value]) => ({
    name,
    type,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, k, v]) => [k, v])),
    value: Number(value),
  }))
  // A family without samples is still exposed, and must not be.
  return found.length === 0 && text.includes(name) ? [{ name, type }] : found
}
