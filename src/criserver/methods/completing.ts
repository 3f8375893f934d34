// How every RPC that gives stats works: ask the runtime, fill the gaps of its answer with our values, or answer alone where
// it does not implement the RPC. Where the node cannot be read, the runtime's answer is relayed as it is.
import { grpcCode } from '../../core/cri/grpc-codes.js'
import type { MessageFns } from '../../cri-api/api.js'
import type { CallEnding, ServerCall, WholeAnswer } from '../../ports/cri-calls.js'
import type { Repair } from '../../stats/repair/repairs.js'
import type { HasDefect } from '../../stats/repair/value-rules.js'
import type { Services } from '../services.js'
import type { NodeView } from '../stats/node-view.js'
import { tryDecode } from './method.js'

export interface StatsMethod<Q, S> {
  readonly request: Pick<MessageFns<Q>, 'decode'>
  readonly response: Pick<MessageFns<S>, 'decode' | 'encode'>
  complete(given: S, view: NodeView, repair: Repair): S
  /** Undefined: what was asked for is not there. */
  answer(request: Q, view: NodeView): S | undefined
  /** The runtime is not asked, unless only it has some of the values. */
  isOurs?(hasDefect: HasDefect): boolean
}

export type Answered =
  /** With the runtime's metadata, where it answered. */
  | { readonly message: Uint8Array; readonly answer?: WholeAnswer }
  /** The runtime's own answer, as it is. */
  | { readonly answer: WholeAnswer }

/** `notFound`: the runtime does not have the RPC, and what was asked for is not there. */
type Completed = Answered | { readonly notFound: true }

export const repairOf = async (services: Services, signal: AbortSignal): Promise<Repair> =>
  services.repairs.of(await services.findRuntimeName(signal))

/** What the runtime said. `unreadable`: a failure, or no such message. */
export type Given<S> = { readonly values: S } | 'unimplemented' | 'unreadable'

interface Question<Q, S> {
  /** Undefined: it is not readable, and the runtime's business. */
  readonly request: Q | undefined
  ask(): Promise<Given<S>>
  /** May have been called before: the pages of one stream share a view. */
  look(): Promise<NodeView>
  readonly signal: AbortSignal
}

/** The answer in terms of values. Undefined: the runtime's own stays as it is. */
export async function completeValues<Q, S>(
  o: StatsMethod<Q, S>,
  { request, ask, look, signal }: Question<Q, S>,
  services: Services,
): Promise<{ readonly values: S } | 'not found' | undefined> {
  const repair = await repairOf(services, signal)
  const isOurs = services.repairs.mode === 'kernel' || o.isOurs?.(repair.hasDefect) === true
  if (request !== undefined && isOurs) {
    const view = await look().catch(() => undefined)
    const values = view === undefined || view.hasOpaque ? undefined : o.answer(request, view)
    if (values !== undefined) return { values }
  }
  const given = await ask()
  if (given === 'unimplemented' && request !== undefined) {
    const values = o.answer(request, await look())
    return values === undefined ? 'not found' : { values }
  }
  if (typeof given === 'string') return undefined
  try {
    return { values: o.complete(given.values, await look(), repair) }
  } catch (error) {
    services.log.debug('the stats of the runtime are relayed as they are', { error })
    return undefined
  }
}

interface EncodedQuestion extends Pick<Question<never, never>, 'look' | 'signal'> {
  readonly path: string
  readonly request: Uint8Array
  ask(): Promise<WholeAnswer>
}

export async function completeAnswer<Q, S>(
  o: StatsMethod<Q, S>,
  { request, ask, look, signal, path }: EncodedQuestion,
  services: Services,
): Promise<Completed> {
  const asked: { answer?: WholeAnswer } = {}
  const made = await completeValues(
    o,
    {
      request: tryDecode(o.request, request),
      async ask() {
        const answer = await ask()
        asked.answer = answer
        if (answer.code === grpcCode.unimplemented) {
          services.table.noteMissing(path)
          return 'unimplemented'
        }
        const values = tryDecode(o.response, answer.message)
        return values === undefined ? 'unreadable' : { values }
      },
      look,
      signal,
    },
    services,
  )
  if (made === 'not found') return { notFound: true }
  const { answer } = asked
  if (made === undefined) return { answer: answer ?? (await ask()) }
  const message = o.response.encode(made.values).finish()
  return answer === undefined || answer.code === grpcCode.unimplemented ? { message } : { message, answer }
}

export async function runCompleting<Q, S>(
  o: StatsMethod<Q, S>,
  call: ServerCall,
  services: Services,
): Promise<CallEnding> {
  const made = await completeAnswer(
    o,
    {
      path: call.path,
      request: await call.readMessage(),
      ask: () => call.ask(),
      look: () => services.values.look(call.signal, 'stats'),
      signal: call.signal,
    },
    services,
  )
  if ('notFound' in made)
    return await call.refuse({ code: grpcCode.notFound, message: 'keelson: no such pod or container runs' })
  return 'message' in made ? await call.reply(made.message, made.answer) : await call.relay(made.answer)
}
