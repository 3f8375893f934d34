// Partial messages made whole. Generated `fromPartial` drops `_unknownFields`; a message that was decoded,
// changed and sent on must keep them, at every depth.
import type { DeepPartial, MessageFns } from './api.js'

type Tree = Record<string, unknown>

const isTree = (v: unknown): v is Tree => typeof v === 'object' && v !== null && !ArrayBuffer.isView(v)

function graft(from: Tree, onto: Tree): void {
  for (const [key, value] of Object.entries(from)) {
    if (key === '_unknownFields') {
      if (isTree(value) && Object.keys(value).length > 0) onto[key] = value
      continue
    }
    const target = onto[key]
    if (isTree(value) && isTree(target)) graft(value, target)
  }
}

/** Every field set, absent sub-messages still absent, unknown fields of `partial` kept. */
export function complete<T>(fns: Pick<MessageFns<T>, 'fromPartial'>, partial: DeepPartial<T>): T {
  const whole = (fns.fromPartial as (object: unknown) => T)(partial)
  if (isTree(partial) && isTree(whole)) graft(partial, whole)
  return whole
}
