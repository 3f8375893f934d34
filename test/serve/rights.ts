// Paths, methods and users of the authentication tests, and the answer each combination must get. Written by hand from
// the rules of the API, apart from the code that is tested.

/** Path, subresources in order, methods that exist there. */
export type PathRow = readonly [string, readonly string[], readonly string[]]

/** Answers that every process gives alike, to the letter. */
export const sharedPaths: readonly PathRow[] = [
  ['/healthz', ['healthz', 'proxy'], ['GET']],
  ['/healthz/ping', ['healthz', 'proxy'], ['GET']],
  ['/configz', ['configz', 'proxy'], ['GET']],
  ['/metrics', ['metrics'], ['GET']],
  ['/metrics/slis', ['metrics'], ['GET']],
  ['/nothing/here', ['proxy'], []],
  ['/statsfoo', ['proxy'], []],
  ['/', ['proxy'], ['GET']],
]
/** Where the answer to somebody who may ask depends on the process and on what runs on its node. */
export const otherPaths: readonly PathRow[] = [
  ['/metrics/cadvisor', ['metrics'], ['GET']],
  ['/metrics/resource', ['metrics'], ['GET']],
  ['/stats/summary', ['stats'], ['GET', 'POST']],
  ['/pods', ['pods', 'proxy'], ['GET']],
  ['/runningpods/', ['pods', 'proxy'], ['GET']],
  ['/logs/messages', ['log'], ['GET']],
  ['/checkpoint/ns/p/c', ['checkpoint'], ['POST']],
  ['/exec/ns/p/c', ['proxy'], ['GET', 'POST']],
  ['/attach/ns/p/c', ['proxy'], ['GET', 'POST']],
  ['/portForward/ns/p', ['proxy'], ['GET', 'POST']],
  ['/run/ns/p/c', ['proxy'], ['POST']],
  ['/containerLogs/ns/p/c', ['proxy'], ['GET']],
  ['/debug/pprof/', ['proxy'], []],
  ['/memoryqos', ['proxy'], ['GET']],
  ['/cri/rpcs', ['proxy'], ['GET']],
  ['/live/snapshot', ['proxy'], ['GET']],
  ['/dashboard/app.js', ['proxy'], ['GET']],
]
export const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']
const verbs: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}
export const rights: Readonly<Record<string, readonly string[]>> = {
  admin: ['* *'],
  scraper: ['get metrics', 'get stats'],
  prober: ['get healthz', 'get configz', 'get pods'],
  'proxy-reader': ['get proxy'],
  'proxy-writer': ['create proxy', 'create checkpoint'],
  nobody: [],
}
const running = /^\/(exec|attach|run|portForward)\//

export function expectedStatus(user: string, method: string, [path, subresources, exist]: PathRow): number {
  const verb = running.test(path) ? 'create' : (verbs[method] ?? '')
  const mine = rights[user] ?? []
  const allowed = mine.includes('* *') || subresources.some((s) => mine.includes(`${verb} ${s}`))
  if (!allowed) return 403
  if (exist.length === 0) return 404
  return exist.includes(method === 'HEAD' ? 'GET' : method) ? 200 : 405
}
