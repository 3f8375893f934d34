// Numbers for eyes. Exact amounts are in titles and in the tables that can show bytes.

import type { Amount, LiveRuntime } from '../core/dashboard/model.js'
import { humanBytes } from '../core/units/human-bytes.js'

export const nothing = '–'

/** `max` for no limit; a dash for what the kernel does not have. */
export const bytesText = (amount: Amount | null | undefined, exact = false): string =>
  amount === null || amount === undefined
    ? nothing
    : amount === 'max'
      ? 'max'
      : exact
        ? amount
        : humanBytes(BigInt(amount))

export const exactTitle = (amount: Amount | null | undefined): string =>
  amount === null || amount === undefined ? 'unknown' : amount === 'max' ? 'no limit' : `${amount} bytes`

export const percentText = (value: number | null | undefined): string =>
  value === null || value === undefined ? nothing : `${value.toFixed(value < 10 ? 1 : 0)} %`

export const milliText = (milli: number | null | undefined): string =>
  milli === null || milli === undefined
    ? nothing
    : milli < 1000
      ? `${Math.round(milli)}m`
      : (milli / 1000).toFixed(2)

export const rateText = (perSecond: number | null | undefined): string =>
  perSecond === null || perSecond === undefined
    ? nothing
    : perSecond < 10
      ? perSecond.toFixed(perSecond === 0 ? 0 : 1)
      : Math.round(perSecond).toString()

export const bytesRate = (perSecond: number | null | undefined): string =>
  perSecond === null || perSecond === undefined ? nothing : `${humanBytes(Math.round(perSecond))}B/s`

export const ageText = (iso: string, now: number): string => {
  const s = Math.max(0, Math.round((now - Date.parse(iso)) / 1000))
  if (s < 120) return `${s} s`
  if (s < 7200) return `${Math.floor(s / 60)} min`
  return s < 172_800 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86_400)} d`
}

/** As a number for drawing; undefined: unlimited or unknown. */
export const amountOf = (amount: Amount | null | undefined): number | undefined =>
  amount === null || amount === undefined || amount === 'max' ? undefined : Number(amount)

export const runtimeWords: Readonly<Record<LiveRuntime['state'], string>> = {
  ready: 'ready',
  starting: 'connecting',
  away: 'unreachable',
}

export const podsUnknown = 'The pods of this node are unknown: the container runtime has not listed them yet.'
