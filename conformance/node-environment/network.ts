// Inside the environment's network namespace: the node's address on a bridge, a default route, and the pods' network.
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mustRun } from '../../src/lab/process.js'
import { nodeAddress, podSubnet } from './plan.js'

const gateway = '10.77.0.254' // nobody is there; a kubelet takes its address from the default route

const settings: Readonly<Record<string, string>> = {
  'net/ipv4/ip_forward': '1',
  // Services of loopback are reached from pods through host ports.
  'net/ipv4/conf/all/route_localnet': '1',
  'net/bridge/bridge-nf-call-iptables': '1',
}

export const formatPodNetwork = (ipamDirectory: string): string =>
  JSON.stringify({
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        ipMasq: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir: ipamDirectory,
          ranges: [[{ subnet: podSubnet }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  })

export async function createNetwork(directory: string): Promise<void> {
  for (const line of [
    'link set lo up',
    'link add node0 type bridge',
    `address add ${nodeAddress}/24 dev node0`,
    'link set node0 up',
    `route add default via ${gateway} dev node0`,
  ])
    await mustRun(['ip', ...line.split(' ')])
  for (const [name, value] of Object.entries(settings)) {
    const path = join('/proc/sys', name)
    if (existsSync(path)) await writeFile(path, value)
  }
  await mkdir(join(directory, 'net.d'), { recursive: true })
  await writeFile(join(directory, 'net.d/10-pods.conflist'), formatPodNetwork(join(directory, 'ipam')))
}
