// Names and addresses of a certificate, told apart.
import { isIPv4 } from 'node:net'

/** No name has a colon. Node's own test compiles an expression for IPv6, 6 ms, for each process that asks about a name. */
export const isAddress = (host: string): boolean => isIPv4(host) || host.includes(':')
