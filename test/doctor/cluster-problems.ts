// Nodes on which something is wrong between them and their cluster.
import { cluster } from './healthy.js'
import { type Problem, problem } from './problem.js'

/** A certificate by the days behind and before it. */
const lasting = (gone: number, left: number) => ({
  notBeforeMs: cluster().nowMs - gone * 86_400_000,
  notAfterMs: cluster().nowMs + left * 86_400_000,
})

export const clusterProblems: readonly Problem[] = [
  problem('api-server', 'unreachable', 'error', /is unreachable/, {
    cluster: cluster({ problem: 'GET /version: the API server at https://10.0.0.1:6443 is unreachable' }),
  }),
  problem('client-certificate', 'it has ended', 'error', /has ended/, {
    cluster: cluster({ certificate: { notBeforeMs: 0, notAfterMs: 1 } }),
  }),
  problem('client-certificate', 'it was not renewed', 'warn', /should have been renewed/, {
    cluster: cluster({ certificate: lasting(345, 20) }),
  }),
  problem(
    'client-certificate',
    'it ends soon and nobody renews it',
    'warn',
    /ends in 20 days and is not renewed/,
    {
      cluster: cluster({ certificate: lasting(345, 20), rotates: false }),
    },
  ),
  problem('clock-skew', 'ten seconds', 'warn', /clocks differ/, { cluster: cluster({ skewMs: -10_000 }) }),
  problem('clock-skew', 'an hour', 'error', /more than a minute/, {
    cluster: cluster({ skewMs: 3_600_000 }),
  }),
  problem('node-lease', 'not renewed', 'error', /older than it lasts/, {
    cluster: cluster({
      lease: { spec: { renewTime: '2026-01-09T23:00:00.000000Z', leaseDurationSeconds: 40 } },
    }),
  }),
  problem('node-lease', 'none', 'error', /has no Lease/, { cluster: cluster({ lease: undefined }) }),
  problem('node-conditions', 'NotReady', 'error', /not Ready: container runtime is down/, {
    cluster: cluster({
      node: {
        status: { conditions: [{ type: 'Ready', status: 'False', message: 'container runtime is down' }] },
      },
    }),
  }),
  problem('node-conditions', 'no Node', 'error', /has no Node node-1/, {
    cluster: cluster({ node: undefined }),
  }),
  problem('node-conditions', 'short of disk and cordoned', 'warn', /DiskPressure[\s\S]*cordoned/, {
    cluster: cluster({
      node: {
        spec: { unschedulable: true },
        status: {
          conditions: [
            { type: 'DiskPressure', status: 'True', message: 'kubelet has disk pressure' },
            { type: 'Ready', status: 'True' },
          ],
        },
      },
    }),
  }),
]
