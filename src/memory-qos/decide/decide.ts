// What one pass does about one file of ours: nothing, a write, waiting, or only a report. A value of ours that
// another writer reset is restored three times in ten minutes; after that it is reported, so that two writers never fight for ever.
// What a kubelet resets when it starts is always restored: it does so once for each start.
import { settledValue } from '../../core/kernel-text/read-back.js'
import type { QosFile } from '../../core/memory-qos/targets.js'

/** What is remembered of one file between passes. */
export interface FileHistory {
  /** The value that we last wrote or found as wanted, as the kernel shows it. Undefined: not looked at yet. */
  readonly applied: string | undefined
  /** When our value was put back, newest last. */
  readonly putBackNanos: readonly bigint[]
  /** Since when a memory.high below usage waits. */
  readonly heldSinceNanos: bigint | undefined
  /** The kubelet that ran when our value was last restored. */
  readonly kubelet?: string | undefined
  /** The wanted value for which another one, found at the first look, was left. */
  readonly keptFor?: string | undefined
}

/** The kubelet of this node, as far as its start is concerned. */
export interface KubeletStart {
  readonly pid: number
  /** Another one for each start: pids are used again. */
  readonly id: string
  readonly ageMs: number
}

export const noHistory: FileHistory = { applied: undefined, putBackNanos: [], heldSinceNanos: undefined }

export type FileDecision =
  | { readonly kind: 'settled' }
  /** Made under other settings: it stays until the wanted value changes. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'write'; readonly why: 'first' | 'changed' | 'drift'; readonly grows: boolean }
  /** memory.high below usage: reclaim and throttling would start at once. */
  | { readonly kind: 'held'; readonly usage: bigint }
  | { readonly kind: 'drift'; readonly putBack: number }

export interface FileDecisionInput {
  readonly file: QosFile
  readonly desired: string
  /** File content. */
  readonly observed: string
  readonly history: FileHistory
  /** memory.current; undefined: not known. */
  readonly usage: bigint | undefined
  readonly nowNanos: bigint
  readonly pageSize: bigint
  /** Undefined: none was found, or it does not write this file. */
  readonly kubelet?: KubeletStart | undefined
  /** What is found at the first look stays, as with upstream, which changes no running container for new settings. */
  readonly keepsFound?: boolean
}

export const maxPutBack = 3
export const putBackWindowNanos = 600_000_000_000n
/** A kubelet writes its cgroups several times while it starts. */
const kubeletStartMs = 60_000
/** One period: time for usage to fall, and for the finding to be read. */
export const highGraceNanos = 60_000_000_000n

const amountOf = (text: string): bigint | 'max' => (text === 'max' ? 'max' : BigInt(text))

export const growsTo = (from: string, to: string): boolean => {
  const [is, becomes] = [amountOf(from), amountOf(to)]
  return is !== 'max' && (becomes === 'max' || becomes > is)
}

export function decideFile(i: FileDecisionInput): FileDecision {
  const wanted = settledValue(i.file, i.desired, i.pageSize)
  const is = settledValue(i.file, i.observed, i.pageSize)
  if (is === wanted) return { kind: 'settled' }
  const { applied, keptFor = wanted } = i.history
  if (i.keepsFound === true && applied === undefined && keptFor === wanted) return { kind: 'kept' }
  const grows = growsTo(is, wanted)
  const why = applied === undefined ? 'first' : applied === wanted ? 'drift' : 'changed'
  if (why === 'drift' && !isFromStart(i)) {
    const recent = recentOf(i.history, i.nowNanos)
    if (recent.length >= maxPutBack) return { kind: 'drift', putBack: recent.length }
  }
  if (i.file === 'memory.high' && !grows && i.usage !== undefined && isBelow(wanted, i.usage)) {
    const since = i.history.heldSinceNanos ?? i.nowNanos
    if (i.nowNanos - since < highGraceNanos) return { kind: 'held', usage: i.usage }
  }
  return { kind: 'write', why, grows }
}

/** The kubelet was started since our value was last restored, or is starting. */
const isFromStart = ({ kubelet, history }: FileDecisionInput): boolean =>
  kubelet !== undefined && (kubelet.id !== history.kubelet || kubelet.ageMs < kubeletStartMs)

const isBelow = (text: string, usage: bigint): boolean => {
  const amount = amountOf(text)
  return amount !== 'max' && amount < usage
}

const recentOf = (history: FileHistory, nowNanos: bigint): readonly bigint[] =>
  history.putBackNanos.filter((at) => nowNanos - at < putBackWindowNanos)

/** The history after a decision was carried out; `written` is false where the write failed. */
export function nextHistory(i: FileDecisionInput, decision: FileDecision, written: boolean): FileHistory {
  const wanted = settledValue(i.file, i.desired, i.pageSize)
  const recent = recentOf(i.history, i.nowNanos)
  switch (decision.kind) {
    case 'settled':
      return { ...i.history, applied: wanted, putBackNanos: recent, heldSinceNanos: undefined }
    case 'kept':
      return { ...i.history, keptFor: wanted }
    case 'held':
      return { ...i.history, heldSinceNanos: i.history.heldSinceNanos ?? i.nowNanos }
    case 'drift':
      return { ...i.history, putBackNanos: recent }
    case 'write':
      return {
        applied: written ? wanted : i.history.applied,
        putBackNanos: decision.why === 'drift' && !isFromStart(i) ? [...recent, i.nowNanos] : recent,
        heldSinceNanos: undefined,
        kubelet: i.kubelet?.id ?? i.history.kubelet,
      }
  }
}
