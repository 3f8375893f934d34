// Bad input, one row each: one clear error, exit status 1 or 2, and nothing on the node has changed.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bundleCommand } from '../support/command.js'
import { runCri, snapshot } from './cri-fixture.js'
import {
  clusterWith,
  configPath,
  containerd,
  crio,
  endpointFlag,
  flagsFile,
  flagsPath,
  ignorePreflight,
  instancePath,
  kubeletDocument,
  runWired,
  useTestNode,
} from './fixture.js'

let given: string

const node = useTestNode(async (node) => {
  given = join(node.top, 'given')
  await mkdir(given)
  await node.put(configPath, kubeletDocument(crio))
  await node.put(flagsPath, flagsFile('--v=2'))
  await node.put(instancePath, `containerRuntimeEndpoint: "${crio}"\n`)
})

const givenFile = async (name: string, text: string): Promise<string> => {
  const path = join(given, name)
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, text)
  return path
}

const upgrade = ['upgrade', 'node', '--kubernetes-version', '1.36', ...ignorePreflight]
const init = ['init', '--kubernetes-version', '1.36', ...ignorePreflight]

interface Row {
  readonly name: string
  readonly arrange: () => Promise<readonly string[]>
  readonly status: 1 | 2
  readonly says: RegExp
}

const rows: readonly Row[] = [
  {
    name: 'broken YAML in the config file',
    arrange: async () => [...init, '--config', await givenFile('c.yaml', 'apiVersion: [\n')],
    status: 2,
    says: /c\.yaml.*\[yaml\.invalid\]/,
  },
  {
    name: 'a key that stands twice',
    arrange: async () => [...init, '--config', await givenFile('c.yaml', 'kind: A\nkind: B\n')],
    status: 2,
    says: /twice.*\[yaml\.invalid\]/,
  },
  {
    name: 'a document of another kind',
    arrange: async () => [...init, '--config', await givenFile('c.yaml', 'apiVersion: v1\nkind: Pod\n')],
    status: 2,
    says: /InitConfiguration.*\[config\.kind\]/,
  },
  {
    name: 'a version of kubeadm documents that nobody reads any more',
    arrange: async () => [
      ...init,
      '--config',
      await givenFile('c.yaml', 'apiVersion: kubeadm.k8s.io/v1beta2\nkind: InitConfiguration\n'),
    ],
    status: 2,
    says: /v1beta3 or v1beta4.*\[config\.kind\]/,
  },
  {
    name: 'a field of the wrong type',
    arrange: async () => [
      ...init,
      '--config',
      await givenFile(
        'c.yaml',
        'apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nnodeRegistration: {criSocket: [1]}\n',
      ),
    ],
    status: 2,
    says: /nodeRegistration\.criSocket is not a string \[config\.invalid\]/,
  },
  {
    name: 'a foreign scheme',
    arrange: async () => [...init, '--cri-socket', 'tcp://127.0.0.1:3735'],
    status: 2,
    says: /criSocket.*only.*unix.*tcp.*\[config\.invalid\]/,
  },
  {
    name: 'two runtimes',
    arrange: async () => {
      await node.listen(containerd)
      await node.listen(crio)
      return init
    },
    status: 1,
    says: /multiple.*containerd\.sock.*crio\.sock.*\[node\.several-runtimes\]/,
  },
  {
    name: 'config.yaml is missing',
    arrange: async () => {
      await rm(join(node.root, configPath))
      return upgrade
    },
    status: 1,
    says: /backing up .*config\.yaml.*\[node\.file-missing\]/,
  },
  {
    name: 'the patches directory is missing',
    arrange: async () => [...upgrade, '--patches', join(given, 'nowhere')],
    status: 2,
    says: /nowhere.*\[input\.unreadable\]/,
  },
  {
    name: 'the patches directory is a file',
    arrange: async () => [...upgrade, '--patches', await givenFile('kubeletconfiguration.yaml', 'a: 1\n')],
    status: 2,
    says: /not a directory.*\[input\.unreadable\]/,
  },
  {
    name: 'a patch file that cannot be read: a link to a directory',
    arrange: async () => {
      await mkdir(join(given, 'p/d'), { recursive: true })
      await symlink('d', join(given, 'p/kubeletconfiguration.yaml'))
      return [...upgrade, '--patches', join(given, 'p')]
    },
    status: 2,
    says: /kubeletconfiguration\.yaml.*not a file.*\[input\.unreadable\]/,
  },
  {
    name: 'a patch that is no text',
    arrange: async () => {
      await givenFile('p/kubeletconfiguration.yaml', '')
      await writeFile(join(given, 'p/kubeletconfiguration.yaml'), Buffer.from([0xff, 0xfe, 0x00]))
      return [...upgrade, '--patches', join(given, 'p')]
    },
    status: 2,
    says: /UTF-8.*\[input\.not-text\]/,
  },
  {
    name: 'a patch of the wrong kind',
    arrange: async () => {
      await givenFile('p/kubeletconfiguration+json.yaml', 'maxPods: 5\n')
      return [...upgrade, '--patches', join(given, 'p')]
    },
    status: 1,
    says: /json patch.*kubeletconfiguration.*maxPods.*\[node\.patch\]/,
  },
  {
    name: 'the kubelet directory is a link to nowhere',
    arrange: async () => {
      await rm(join(node.root, 'var/lib/kubelet'), { recursive: true })
      await symlink('/data/kubelet', join(node.root, 'var/lib/kubelet'))
      return [...init, '--cri-socket', crio]
    },
    status: 1,
    says: /dangling link.*\[node\.refused\]/,
  },
  {
    name: 'the kubelet directory is a link to itself',
    arrange: async () => {
      await rm(join(node.root, 'var/lib/kubelet'), { recursive: true })
      await symlink('kubelet', join(node.root, 'var/lib/kubelet'))
      return [...init, '--cri-socket', crio]
    },
    status: 1,
    says: /loop of symbolic links.*\[node\.refused\]/,
  },
  {
    name: 'reset of a kubelet directory that leads into the system',
    arrange: async () => {
      await rm(join(node.root, 'var/lib/kubelet'), { recursive: true })
      await symlink('../../etc', join(node.root, 'var/lib/kubelet'))
      return ['reset', '--force', '--cri-socket', crio, ...ignorePreflight]
    },
    status: 1,
    says: /is a link to \/etc.*\[node\.refused\]/,
  },
  {
    name: 'reset without a yes',
    arrange: async () => ['reset', '--cri-socket', crio],
    status: 2,
    says: /--force.*\[usage\.invalid\]/,
  },
  {
    name: 'an unknown release',
    arrange: async () => ['init', '--kubernetes-version', '1.99'],
    status: 2,
    says: /1\.99.*\[version\.unknown\]/,
  },
  {
    name: 'an unknown phase',
    arrange: async () => [...init, '--skip-phases', 'kubelet-strat'],
    status: 2,
    says: /kubelet-strat; did you mean kubelet-start.*\[usage\.invalid\]/,
  },
  {
    name: 'a kubeconfig that is not there',
    arrange: async () => [...upgrade, '--kubeconfig', join(given, 'nowhere.conf')],
    status: 2,
    says: /nowhere\.conf.*\[kubeapi\.kubeconfig\]/,
  },
]

describe('bad input', () => {
  test.each(rows)('$name', async ({ arrange, status, says }) => {
    const args = await arrange()
    const before = await node.files().catch(() => ({}))
    const result = await node.run(...args)
    expect(result.stderr).toMatch(says)
    expect(result.stderr.trim().split('\n')).toHaveLength(1)
    expect(result.status).toBe(status)
    expect(result.stdout).toBe('')
    expect(await node.files().catch(() => ({}))).toEqual(before)
  })
})

/** A file system of its own below /var/lib/kubelet, as small or as read-only as wanted; needs root. */
async function mountOn(directory: string, options: string): Promise<() => void> {
  await mkdir(directory, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'keelson-test', directory])
  return () => execFileSync('umount', [directory])
}

const canMount = ((): boolean => {
  if (process.getuid?.() !== 0) return false
  return spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
})()

describe('a file system that does not take it', () => {
  test.for([
    { name: 'read-only', fill: false, says: /read-only.*\[file\.write-failed\]/ },
    { name: 'full disk', fill: true, says: /no space.*\[file\.write-failed\]/ },
  ])('$name', async ({ fill, says }, ctx) => {
    if (!canMount) {
      if (process.env.CI === 'true') throw new Error('CI must be able to mount a tmpfs')
      ctx.skip('mounting a tmpfs needs root')
    }
    const kubelet = join(node.root, 'var/lib/kubelet')
    await rm(kubelet, { recursive: true })
    const unmount = await mountOn(kubelet, 'size=64k')
    try {
      await node.put(configPath, kubeletDocument(crio))
      await node.put(flagsPath, flagsFile(endpointFlag(crio)))
      if (fill) await writeFile(join(kubelet, 'fill'), Buffer.alloc(1024 * 1024)).catch(() => undefined)
      else execFileSync('mount', ['-o', 'remount,ro', kubelet])
      const before = await node.files()
      const result = await node.run(...upgrade)
      expect(result.stderr).toMatch(says)
      expect(result.status).toBe(1)
      expect(await node.files()).toEqual(before)
      // The same for what stands on it: its other files are on another file system and must not stay alone.
      const tree = await snapshot(node)
      const install = await runCri(node, (ports) => ports, 'install')
      expect(`${install.error?.message} [file.write-failed]`).toMatch(says)
      expect(await snapshot(node)).toEqual(tree)
    } finally {
      unmount()
    }
  })
})

test('no root: a directory of somebody else', async (ctx) => {
  if (process.getuid?.() !== 0) {
    if (process.env.CI === 'true') throw new Error('CI runs this as root')
    ctx.skip('becoming another user needs root')
  }
  await chmod(node.top, 0o755)
  const before = await node.files()
  // Not from the repository: the other user may not be able to read it where it lies.
  const bundle = await bundleCommand()
  await chmod(dirname(bundle.main), 0o755)
  const child = spawnSync(process.execPath, [bundle.main, 'node', ...upgrade, '--rootfs', node.root], {
    uid: 65534,
    gid: 65534,
    encoding: 'utf8',
    timeout: 60_000,
    env: { PATH: process.env.PATH ?? '', TMPDIR: '/tmp' },
  })
  await bundle.remove()
  expect(child.stderr).toMatch(
    /permission denied; run the command as root \[(file\.write-failed|input\.unreadable)\]/,
  )
  expect([1, 2]).toContain(child.status)
  expect(await node.files()).toEqual(before)
})

test('an error in the middle of the change is undone: the API server refuses the annotation', async () => {
  const cluster = clusterWith({ annotation: crio })
  await rm(join(node.root, instancePath))
  await node.put(flagsPath, flagsFile(endpointFlag(crio)))
  const before = await node.files()
  cluster.beforeWrite = () => {
    throw new Error('403')
  }
  const result = await runWired(node, (ports) => ({ ...ports, cluster }), upgrade)
  expect(result.error?.message).toBe('403')
  expect(await node.files()).toEqual(before)
  expect(await node.read('/var/lib/keelson/node-journal.json')).toBeUndefined()
})
