// The Stream* RPCs on a runtime that has only the unary ones, and those with values on every runtime. Lists that can be asked by
// sandbox are, so that no single answer of the runtime grows with the node.

import { grpcCode } from '../../core/cri/grpc-codes.js'
import { keelsonError } from '../../core/errors.js'
import {
  ListContainerStatsRequest,
  ListContainersRequest,
  ListPodSandboxRequest,
  ListPodSandboxResponse,
  ListPodSandboxStatsRequest,
} from '../../cri-api/api.js'
import { complete } from '../../cri-api/complete.js'
import type { CallEnding, ServerCall, WholeAnswer } from '../../ports/cri-calls.js'
import type { Services } from '../services.js'
import type { NodeView } from '../stats/node-view.js'
import { completeAnswer, type StatsMethod } from './completing.js'
import { listOfContainerStats } from './container-stats.js'
import { type CriMethod, imagePath, runtimePath, tryDecode } from './method.js'
import { completePodMetrics } from './metrics.js'
import { listOfPodStats } from './pod-sandbox-stats.js'
import { askInOrder, packItems } from './stream-pages.js'

/** Questions to the runtime at once. */
const maxQuestions = 8

/** How one call puts its questions of the unary form. Throws a `Refused` when the runtime does not answer one. */
type Begin = (call: ServerCall, services: Services) => (message: Uint8Array) => Promise<Uint8Array>

class Refused extends Error {
  constructor(readonly answer: WholeAnswer) {
    super(`the runtime answered with code ${answer.code}`)
  }
}

function messageOf(answer: WholeAnswer): Uint8Array {
  if (answer.message === undefined && answer.code !== grpcCode.ok) throw new Refused(answer)
  return answer.message ?? new Uint8Array()
}

const asking =
  (path: string): Begin =>
  (call) =>
  async (message) =>
    messageOf(await call.ask(message, path))

/** All pages are completed from one look at the node. */
const completing =
  <Q, S>(path: string, how: StatsMethod<Q, S>): Begin =>
  (call, services) => {
    let view: Promise<NodeView> | undefined
    const look = (): Promise<NodeView> => {
      view ??= services.values.look(call.signal, 'stats')
      return view
    }
    return async (request) => {
      const question = { path, request, ask: () => call.ask(request, path), look, signal: call.signal }
      const made = await completeAnswer(how, question, services)
      if ('notFound' in made) return new Uint8Array()
      return 'message' in made ? made.message : messageOf(made.answer)
    }
  }

const podMetrics: Begin = (call, services) => async (request) => {
  const ask = () => call.ask(request, runtimePath('ListPodSandboxMetrics'))
  const made = await completePodMetrics(ask, services, call.signal)
  return 'message' in made ? made.message : messageOf(made.answer)
}

/** The requests that together give what the stream was asked for. */
type Split = (
  request: Uint8Array,
  sandboxes: () => Promise<readonly string[]>,
) => Promise<readonly Uint8Array[]>

const whole: Split = async (request) => [request]

async function listSandboxes(call: ServerCall): Promise<readonly string[]> {
  const message = ListPodSandboxRequest.encode(ListPodSandboxRequest.fromPartial({})).finish()
  const listed = messageOf(await call.ask(message, runtimePath('ListPodSandbox')))
  const answer = tryDecode(ListPodSandboxResponse, listed)
  if (answer === undefined)
    throw keelsonError('runtime.malformed', "read the runtime's answer to ListPodSandbox: it is not a list")
  return answer.items.map((s) => s.id)
}

const containersBySandbox: Split = async (request, sandboxes) => {
  const filter = tryDecode(ListContainersRequest, request)?.filter
  if (filter !== undefined && (filter.id !== '' || filter.podSandboxId !== '')) return [request]
  return (await sandboxes()).map((podSandboxId) =>
    ListContainersRequest.encode(
      complete(ListContainersRequest, { filter: { ...filter, podSandboxId } }),
    ).finish(),
  )
}

const containerStatsBySandbox: Split = async (request, sandboxes) => {
  const filter = tryDecode(ListContainerStatsRequest, request)?.filter
  if (filter !== undefined && (filter.id !== '' || filter.podSandboxId !== '')) return [request]
  return (await sandboxes()).map((podSandboxId) =>
    ListContainerStatsRequest.encode(
      complete(ListContainerStatsRequest, { filter: { ...filter, podSandboxId } }),
    ).finish(),
  )
}

const podStatsBySandbox: Split = async (request, sandboxes) => {
  const filter = tryDecode(ListPodSandboxStatsRequest, request)?.filter
  if (filter !== undefined && filter.id !== '') return [request]
  return (await sandboxes()).map((id) =>
    ListPodSandboxStatsRequest.encode(
      complete(ListPodSandboxStatsRequest, { filter: { ...filter, id } }),
    ).finish(),
  )
}

/** A stream of the unary answers; `refused` is the runtime's own answer to the stream, where it was asked for one. */
async function streamUnary(
  call: ServerCall,
  services: Services,
  { begin, split, refused }: { begin: Begin; split: Split; refused?: WholeAnswer },
): Promise<CallEnding> {
  const answers = async function* (): AsyncGenerator<Uint8Array> {
    const requests = await split(await call.readMessage(), () => listSandboxes(call))
    yield* askInOrder(requests, begin(call, services), maxQuestions)
  }
  try {
    return await call.replyStream(packItems(answers()))
  } catch (e) {
    if (!(e instanceof Refused)) throw e
    return await call.relay(e.answer.code === grpcCode.unimplemented ? (refused ?? e.answer) : e.answer)
  }
}

/** A runtime's own stream is passed on: lists are right as they are. */
const listStream = (path: string, begin: Begin, split: Split = whole): CriMethod => ({
  path,
  streams: true,
  async run(call, services) {
    const passed = await call.passOnUnless(grpcCode.unimplemented)
    if (!('refused' in passed)) return passed
    services.table.noteMissing(path)
    return await streamUnary(call, services, { begin, split, refused: passed.refused })
  },
})

/** Values of a runtime's own stream would be neither completed nor repaired, and their labels not those that we declare. */
const valuesStream = (path: string, begin: Begin, split: Split = whole): CriMethod => ({
  path,
  streams: true,
  run: (call, services) => streamUnary(call, services, { begin, split }),
})

export const streams: readonly CriMethod[] = [
  listStream(runtimePath('StreamPodSandboxes'), asking(runtimePath('ListPodSandbox'))),
  listStream(runtimePath('StreamContainers'), asking(runtimePath('ListContainers')), containersBySandbox),
  valuesStream(
    runtimePath('StreamContainerStats'),
    completing(runtimePath('ListContainerStats'), listOfContainerStats),
    containerStatsBySandbox,
  ),
  valuesStream(
    runtimePath('StreamPodSandboxStats'),
    completing(runtimePath('ListPodSandboxStats'), listOfPodStats),
    podStatsBySandbox,
  ),
  valuesStream(runtimePath('StreamPodSandboxMetrics'), podMetrics),
  listStream(imagePath('StreamImages'), asking(imagePath('ListImages'))),
]
