// The Stream* RPCs on a runtime that has only the unary ones. Lists that can be asked by sandbox are, so that no single
// answer of the runtime grows with the node.

import { grpcCode } from '../../core/grpc-codes.js'
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
import { inOrder } from '../streams/ahead.js'
import { packItems } from '../streams/pages.js'
import { tryDecode } from '../wire.js'
import { type CriMethod, imagePath, runtimePath } from './method.js'

/** Questions under way at once. */
const ahead = 8

/** One question of the unary form. Throws a `Refused` when the runtime does not answer it. */
export type AskList = (call: ServerCall, message: Uint8Array, services: Services) => Promise<Uint8Array>

class Refused extends Error {
  constructor(readonly answer: WholeAnswer) {
    super(`the runtime answered with code ${answer.code}`)
  }
}

const ask =
  (path: string): AskList =>
  async (call, message) => {
    const answer = await call.ask(message, path)
    if (answer.message === undefined && answer.code !== grpcCode.ok) throw new Refused(answer)
    return answer.message ?? new Uint8Array()
  }

/** The requests that together give what the stream was asked for. */
type Split = (
  request: Uint8Array,
  sandboxes: () => Promise<readonly string[]>,
) => Promise<readonly Uint8Array[]>

const whole: Split = async (request) => [request]

async function listSandboxes(call: ServerCall, services: Services): Promise<readonly string[]> {
  const message = ListPodSandboxRequest.encode(ListPodSandboxRequest.fromPartial({})).finish()
  const listed = await ask(runtimePath('ListPodSandbox'))(call, message, services)
  return ListPodSandboxResponse.decode(listed).items.map((s) => s.id)
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

function streamOver(path: string, list: AskList, split: Split = whole): CriMethod {
  return {
    path,
    streams: true,
    async run(call, services): Promise<CallEnding> {
      const passed = await call.passOnUnless(grpcCode.unimplemented)
      if (!('refused' in passed)) return passed
      services.table.noteMissing(path)
      const answers = async function* (): AsyncGenerator<Uint8Array> {
        const requests = await split(await call.readMessage(), () => listSandboxes(call, services))
        yield* inOrder(requests, (message) => list(call, message, services), ahead)
      }
      try {
        return await call.replyStream(packItems(answers()))
      } catch (e) {
        if (e instanceof Refused && e.answer.code === grpcCode.unimplemented)
          return await call.relay(passed.refused)
        if (e instanceof Refused) return await call.relay(e.answer)
        throw e
      }
    },
  }
}

export const streams: readonly CriMethod[] = [
  streamOver(runtimePath('StreamPodSandboxes'), ask(runtimePath('ListPodSandbox'))),
  streamOver(runtimePath('StreamContainers'), ask(runtimePath('ListContainers')), containersBySandbox),
  streamOver(
    runtimePath('StreamContainerStats'),
    ask(runtimePath('ListContainerStats')),
    containerStatsBySandbox,
  ),
  streamOver(
    runtimePath('StreamPodSandboxStats'),
    ask(runtimePath('ListPodSandboxStats')),
    podStatsBySandbox,
  ),
  streamOver(runtimePath('StreamPodSandboxMetrics'), ask(runtimePath('ListPodSandboxMetrics'))),
  streamOver(imagePath('StreamImages'), ask(imagePath('ListImages'))),
]
