// The client of the API server in a test: against a plain HTTP stub, or by kubeconfig.
import { createClock } from '../../src/adapters/clock/clock.js'
import { createKubeApi, type OpenKubeApi, type WatchLimits } from '../../src/adapters/kubeapi/kube-api.js'
import { openKubeApi } from '../../src/adapters/kubeapi/open.js'
import { FakeLog } from '../../src/fakes/log.js'
import type { Clock } from '../../src/ports/clock.js'
import type { KubeCalls } from '../../src/ports/kube-calls.js'
import type { Log } from '../../src/ports/log.js'
import { createKubeCalls } from '../../src/serve/kube-calls.js'

export interface StubClientOptions {
  readonly url: string
  readonly clock?: Clock
  readonly log?: Log
  readonly watch?: Partial<WatchLimits>
}

/** The real pauses of the client, but shorter. */
export const quickClock = (longestMs = 20): Clock => {
  const clock = createClock()
  return { ...clock, sleep: (ms, signal) => clock.sleep(Math.min(ms, longestMs), signal) }
}

export const stubClient = ({
  url,
  clock = quickClock(),
  log = new FakeLog(),
  watch,
}: StubClientOptions): OpenKubeApi =>
  createKubeApi({
    access: { server: new URL(url), insecure: true, user: {} },
    clock,
    log,
    userAgent: 'keelson-test',
    ...(watch === undefined ? {} : { watch }),
  })

export const callsOf = async (kubeconfig: string): Promise<KubeCalls> =>
  createKubeCalls(await openKubeApi({ kubeconfig, log: new FakeLog(), version: '0.0.0' }))
