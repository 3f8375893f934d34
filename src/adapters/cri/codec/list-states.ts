// The lists of sandboxes and containers read for their ids and states alone. Labels, annotations and the rest are most of
// an answer; skipping them unread makes a look each second at a full node a matter of a few milliseconds.
import type { BinaryReader } from '@bufbuild/protobuf/wire'
import {
  type ContainerState,
  ListContainersRequest,
  ListPodSandboxRequest,
  type PodSandboxState,
} from '../../../cri-api/api.js'
import type { RuntimeStates } from '../../../ports/runtime.js'
import { type CallContext, callUnary, type Method } from '../client/call.js'

type States = ReadonlyMap<string, number>

const lengthDelimited = 2
const varint = 0
const tagOf = (field: number, wireType: number): number => (field << 3) | wireType

/** Every entry is field 1 of its answer, and the id is field 1 of its entry, in both lists. */
const entryTag = tagOf(1, lengthDelimited)
const idTag = tagOf(1, lengthDelimited)

/** The library's own way over a field makes a view of it, a thousand of them for each list. */
function pass(reader: BinaryReader, wireType: number): void {
  if (wireType !== lengthDelimited) {
    reader.skip(wireType)
    return
  }
  const length = reader.uint32()
  if (length > reader.len - reader.pos) throw new RangeError('a field is longer than its message')
  reader.pos += length
}

const decoder = (stateField: number): { decode(input: BinaryReader | Uint8Array): States } => {
  const stateTag = tagOf(stateField, varint)
  const readEntry = (reader: BinaryReader, into: Map<string, number>): void => {
    const end = reader.uint32() + reader.pos
    let id = ''
    let state = 0
    while (reader.pos < end) {
      const tag = reader.uint32()
      if (tag === idTag) id = reader.string()
      else if (tag === stateTag) state = reader.int32()
      else pass(reader, tag & 7)
    }
    into.set(id, state)
  }
  return {
    decode(input) {
      // The client's decoder hands a reader over, which it then asks whether all was read.
      const reader = input as BinaryReader
      const states = new Map<string, number>()
      while (reader.pos < reader.len) {
        const tag = reader.uint32()
        if (tag === entryTag) readEntry(reader, states)
        else if (tag === 0) break
        else pass(reader, tag & 7)
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
