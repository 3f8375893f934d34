// This machine for its Node object: interfaces, default routes, DNS, huge pages, the name of its distribution.
import { lookup } from 'node:dns/promises'
import { readdirSync, readFileSync } from 'node:fs'
import { arch, networkInterfaces } from 'node:os'
import { parseDefaultRoutes, parseDefaultRoutes6 } from '../../core/kernel-text/routes.js'
import type { NodeHost } from '../../ports/node-host.js'

/** Go's names of the architectures that Node.js has others for. */
const goNames: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' }

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const hugePagesDirectory = '/sys/kernel/mm/hugepages'

function readHugePages(): ReturnType<NodeHost['hugePages']> {
  try {
    return readdirSync(hugePagesDirectory).flatMap((name) => {
      const size = /^hugepages-(\d+)kB$/.exec(name)?.[1]
      const pages = readText(`${hugePagesDirectory}/${name}/nr_hugepages`).trim()
      return size === undefined || !/^\d+$/.test(pages)
        ? []
        : [{ pageBytes: BigInt(size) * 1024n, pages: BigInt(pages) }]
    })
  } catch {
    // A kernel without huge pages.
    return []
  }
}

/** `PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"` */
function readOsImage(): string {
  const text = readText('/etc/os-release') || readText('/usr/lib/os-release')
  const value = /^PRETTY_NAME=(.*)$/m.exec(text)?.[1] ?? ''
  return value.replace(/^(["'])(.*)\1$/, '$2') || 'Linux'
}

const isUsable = (address: string): boolean => !/^(127\.|169\.254\.|::1$|fe[89ab])/i.test(address)

/** Node's lookup has no deadline of its own. */
async function lookupWithin(name: string, timeoutMs: number): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), timeoutMs)
  })
  const found = lookup(name, { all: true }).then((list) => list.map((entry) => entry.address))
  return Promise.race([found.catch(() => []), late]).finally(() => clearTimeout(timer))
}

export const createNodeHost = (): NodeHost => ({
  architecture: goNames[arch()] ?? arch(),
  ownAddresses: () =>
    Object.values(networkInterfaces()).flatMap((list) =>
      (list ?? []).map((i) => i.address.replace(/%.*$/, '')),
    ),
  routedAddresses() {
    const interfaces = networkInterfaces()
    const of = (device: string, family: 'IPv4' | 'IPv6'): string[] =>
      (interfaces[device] ?? [])
        .filter((i) => i.family === family && isUsable(i.address))
        .map((i) => i.address)
    return [
      ...parseDefaultRoutes(readText('/proc/net/route')).flatMap((device) => of(device, 'IPv4')),
      ...parseDefaultRoutes6(readText('/proc/net/ipv6_route')).flatMap((device) => of(device, 'IPv6')),
    ]
  },
  lookup: lookupWithin,
  inUserNamespace: () => !/^\s*0\s+0\s+4294967295\s*$/.test(readText('/proc/self/uid_map')),
  hugePages: readHugePages,
  osImage: readOsImage,
})
