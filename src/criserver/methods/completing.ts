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

type Completed =
  /** With the runtime's metadata, where it answered. */
  | { readonly message: Uint8Array; readonly answer?: WholeAnswer }
  /** The runtime's own answer, as it is. */
  | { readonly answer: WholeAnswer }
  /** The runtime does not have the RPC, and what was asked for is not there. */
  | { readonly notFound: true }

export const repairOf = async (services: Services, signal: AbortSignal): Promise<Repair> =>
  services.repairs.of(await services.findRuntimeName(signal))

const encode = <S>(fns: Pick<MessageFns<S>, 'encode'>, value: S): Uint8Array => fns.encode(value).finish()

interface Question {
  readonly path: string
  readonly request: Uint8Array
  ask(): Promise<WholeAnswer>
  /** May have been called before: the pages of one stream share a view. */
  look(): Promise<NodeView>
  readonly signal: AbortSignal
}

export async function completeAnswer<Q, S>(
  o: StatsMethod<Q, S>,
  { request, ask, look, signal, path }: Question,
  services: Services,
): Promise<Completed> {
  const asked = tryDecode(o.request, request)
  const repair = await repairOf(services, signal)
  if (asked !== undefined && o.isOurs?.(repair.hasDefect) === true) {
    const view = await look().catch(() => undefined)
    const whole = view === undefined || view.hasOpaque ? undefined : o.answer(asked, view)
    if (whole !== undefined) return { message: encode(o.response, whole) }
  }
  const answer = await ask()
  if (answer.code === grpcCode.unimplemented && asked !== undefined) {
    services.table.noteMissing(path)
    const whole = o.answer(asked, await look())
    return whole === undefined ? { notFound: true } : { message: encode(o.response, whole) }
  }
  const given = tryDecode(o.response, answer.message)
  if (given === undefined) return { answer }
  try {
    return { message: encode(o.response, o.complete(given, await look(), repair)), answer }
  } catch (error) {
    services.log.debug('the stats of the runtime are relayed as they are', { error })
    return { answer }
  }
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
