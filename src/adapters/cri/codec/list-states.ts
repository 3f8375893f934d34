// The lists of sandboxes and containers, decoded for ids and states alone. Labels and annotations are most of an answer;
// skipping them makes polling a full node each second cost a few milliseconds.
import { tagOf, WireReader, wireType } from '../../../core/cri/protobuf-wire.js'
import {
  type ContainerState,
  ListContainersRequest,
  ListPodSandboxRequest,
  type PodSandboxState,
} from '../../../cri-api/api.js'
import type { RuntimeStates } from '../../../ports/runtime.js'
import { type CallContext, callUnary, type Method } from '../client/call.js'
import type { WholeDecoder } from './codec.js'

type States = ReadonlyMap<string, number>

/** Every entry is field 1 of its answer, and the id is field 1 of its entry, in both lists. */
const entryTag = tagOf(1, wireType.lengthDelimited)
const idTag = tagOf(1, wireType.lengthDelimited)

const decodeText = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')

const decoder = (stateField: number): WholeDecoder<States> => {
  const stateTag = tagOf(stateField, wireType.varint)
  const readEntry = (reader: WireReader, end: number, into: Map<string, number>): void => {
    let id = ''
    let state = 0
    while (reader.at < end) {
      const tag = reader.varint()
      if (tag === idTag) {
        const idEnd = reader.content(end)
        id = decodeText(reader.bytes, reader.at, idEnd)
        reader.at = idEnd
      } else if (tag === stateTag) state = reader.int32()
      else reader.skip(tag, end)
    }
    reader.finish(end)
    into.set(id, state)
  }
  return {
    decodeWhole(bytes) {
      const reader = new WireReader(bytes)
      const states = new Map<string, number>()
      while (reader.at < bytes.length) {
        const tag = reader.varint()
        if (tag === entryTag) readEntry(reader, reader.content(bytes.length), states)
        else reader.skip(tag, bytes.length)
      }
      return states
    },
  }
}

const service = 'runtime.v1.RuntimeService'

const listPodSandbox: Method<ListPodSandboxRequest, States> = {
  name: 'ListPodSandbox',
  path: `/${service}/ListPodSandbox`,
  requestType: ListPodSandboxRequest,
  responseType: decoder(3),
}

const listContainers: Method<ListContainersRequest, States> = {
  name: 'ListContainers',
  path: `/${service}/ListContainers`,
  requestType: ListContainersRequest,
  responseType: decoder(6),
}

export const bindStates = (ctx: CallContext): RuntimeStates => ({
  sandboxes: async (options) =>
    (await callUnary(ctx, listPodSandbox, {}, options)) as ReadonlyMap<string, PodSandboxState>,
  containers: async (options) =>
    (await callUnary(ctx, listContainers, {}, options)) as ReadonlyMap<string, ContainerState>,
})
