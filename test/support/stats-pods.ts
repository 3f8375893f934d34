// The pods that tests of the statistics share.
import { type FixturePod, hexId, snapshotFiles } from './stats-fixture.js'

const header =
  'Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n'

/** A pod with a limit, a sidecar without one, and a second interface. */
export const web: FixturePod = {
  sandboxId: hexId('a', 1),
  namespace: 'default',
  name: 'web-0',
  uid: '11111111-2222-3333-4444-555555555555',
  pid: 501,
  netDev: `${header}    lo: 500 5 0 0 0 0 0 0 500 5 0 0 0 0 0 0\n  eth0: 1048576 1000 1 2 0 0 0 0 524288 800 3 4 0 0 0 0\n  net1: 2048 16 0 0 0 0 0 0 1024 8 0 0 0 0 0 0\n`,
  files: snapshotFiles('v2-05-many-devices'),
  containers: [
    { id: hexId('c', 1), name: 'app', files: snapshotFiles('v2-01-limited') },
    { id: hexId('c', 2), name: 'sidecar', files: snapshotFiles('v2-02-unlimited') },
  ],
}

/** A static pod on the node's network; its uid is the hash of its file. */
export const etcd: FixturePod = {
  sandboxId: hexId('a', 2),
  namespace: 'kube-system',
  name: 'etcd-node1',
  uid: '0123456789abcdef0123456789abcdef',
  hostNetwork: true,
  pid: 502,
  netDev: `${header}  eth0: 900 9 0 0 0 0 0 0 800 8 0 0 0 0 0 0\n`,
  files: snapshotFiles('v2-03-inactive-gt-usage'),
  containers: [{ id: hexId('c', 3), name: 'etcd', files: snapshotFiles('v2-04-old-kernel') }],
}
