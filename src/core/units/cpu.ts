// CPU amounts as the kernel wants them: shares, the two cgroup v2 weight curves, and the CFS quota.

const minShares = 2n
const maxShares = 262_144n
const sharesPerCore = 1024n
const milliPerCore = 1000n
const maxWeight = 10_000n
const minQuotaUs = 1000n

export const defaultCpuPeriodUs = 100_000n

/** 100m is 102 shares. */
export function sharesOfMilliCpu(milliCpu: bigint): bigint {
  if (milliCpu <= 0n) return minShares
  const shares = (milliCpu * sharesPerCore) / milliPerCore
  return shares < minShares ? minShares : shares > maxShares ? maxShares : shares
}

/** The curve the kubelet uses for pod, QoS and node cgroups: 1024 shares are weight 39. */
export function linearWeight(shares: bigint): bigint {
  if (shares <= minShares) return 1n
  return shares >= maxShares ? maxWeight : 1n + ((shares - minShares) * 9999n) / 262_142n
}

/** Lossy: 102 shares are weight 4, which reads back as 80. */
export const sharesOfLinearWeight = (weight: bigint): bigint => ((weight - 1n) * 262_142n) / 9999n + minShares

/** The curve of OCI runtimes since runc 1.3.2: 1024 shares are weight 100. Undefined: shares not set. */
export function logQuadraticWeight(shares: bigint): bigint | undefined {
  if (shares <= 0n) return undefined
  if (shares <= minShares) return 1n
  if (shares >= maxShares) return maxWeight
  const l = Math.log2(Number(shares))
  return BigInt(Math.ceil(10 ** ((l * l + 125 * l) / 612 - 7 / 34)))
}

/** Microseconds of each period; 0 means no limit. Below one millisecond the kernel refuses. */
export function quotaOfMilliCpu(milliCpu: bigint, periodUs: bigint = defaultCpuPeriodUs): bigint {
  if (milliCpu <= 0n) return 0n
  const quota = (milliCpu * periodUs) / milliPerCore
  return quota < minQuotaUs ? minQuotaUs : quota
}
