// What the CRI server does about the stats of the runtime.

/**
 * `repair`: wrong values are replaced from the kernel. `kernel`: the runtime is asked only for what the kernel cannot say, and those
 * values are repaired too. `trust`: the values of the runtime are passed on as they are.
 */
export const valuesModes = ['repair', 'kernel', 'trust'] as const
export type ValuesMode = (typeof valuesModes)[number]
