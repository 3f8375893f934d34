// `grpc-timeout` to milliseconds.

const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
}

/** `2S` -> 2000. Undefined: none was given, or it is not one that gRPC has. */
export function parseGrpcTimeout(text: string | undefined): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(text ?? '') ?? []
  const ms = unitMs[unit]
  return digits === undefined || ms === undefined ? undefined : Number(digits) * ms
}
