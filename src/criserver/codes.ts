// The gRPC codes that methods look at or give.
export const codes = {
  ok: 0,
  invalidArgument: 3,
  notFound: 5,
  failedPrecondition: 9,
  unimplemented: 12,
} as const
