// What commands leave on disk: modes, links, patches of each type, and what a dry run shows instead.
import { chmod, lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { run } from '../../src/cli/program.js'
import {
  annotationKey,
  capture,
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
  three,
  useTestNode,
} from './fixture.js'

const node = useTestNode()

const init = ['init', '--kubernetes-version', '1.36', '--cri-socket', crio, ...ignorePreflight]
const upgrade = ['upgrade', 'node', '--kubernetes-version', '1.36', ...ignorePreflight]
const modeOf = async (path: string): Promise<string> =>
  ((await stat(join(node.root, path))).mode & 0o7777).toString(8)

describe('modes', () => {
  test('what init creates is 0644 in a directory of 0700, whatever the umask', async () => {
    const umask = process.umask(0o077)
    try {
      expect(await node.run(...init)).toMatchObject({ status: 0, stderr: '' })
    } finally {
      process.umask(umask)
    }
    expect(await Promise.all(three.map(modeOf))).toEqual(['644', '644', '644'])
    expect(await modeOf('/var/lib/kubelet')).toBe('700')
    expect(await readdir(join(node.root, 'var/lib/keelson'))).toEqual([])
  })

  test('a file that is there keeps its mode, and the backup of an upgrade is in a directory of 0700', async () => {
    await node.put(configPath, kubeletDocument())
    await node.put(flagsPath, flagsFile(endpointFlag(crio)))
    await chmod(join(node.root, configPath), 0o600)
    expect(await node.run(...upgrade)).toMatchObject({ status: 0, stderr: '' })
    expect([await modeOf(configPath), await modeOf(instancePath)]).toEqual(['600', '644'])
    const [backup = ''] = await readdir(join(node.root, 'etc/kubernetes/tmp'))
    expect(backup).toMatch(/^kubeadm-kubelet-config-/)
    expect(await modeOf(`/etc/kubernetes/tmp/${backup}`)).toBe('700')
    expect(await node.read(`/etc/kubernetes/tmp/${backup}/config.yaml`)).toBe(kubeletDocument())
  })
})

test('linked directories and files: what they lead to changes, the links stay', async () => {
  await mkdir(join(node.root, 'data/kubelet'), { recursive: true })
  await mkdir(join(node.root, 'var/lib'), { recursive: true })
  // As the node sees them; from outside this link leads nowhere.
  await symlink('/data/kubelet', join(node.root, 'var/lib/kubelet'))
  await writeFile(join(node.root, 'data/real.yaml'), 'x: 1\n')
  await symlink('../real.yaml', join(node.root, 'data/kubelet/config.yaml'))
  expect(await node.run(...init)).toMatchObject({ status: 0, stderr: '' })
  expect(await readlink(join(node.root, 'var/lib/kubelet'))).toBe('/data/kubelet')
  expect((await lstat(join(node.root, 'data/kubelet/config.yaml'))).isSymbolicLink()).toBe(true)
  expect(await node.read('/data/real.yaml')).toContain(crio)
  expect(await node.read('/data/kubelet/instance-config.yaml')).toContain(crio)
  expect(await node.run(...upgrade)).toMatchObject({ status: 0, stderr: '' })
  expect((await lstat(join(node.root, 'data/kubelet/config.yaml'))).isSymbolicLink()).toBe(true)
})

describe('patches', () => {
  const patches = {
    'kubeletconfiguration0.yaml': 'maxPods: 10\nevictionHard:\n  memory.available: 1Gi\n',
    'kubeletconfiguration1+merge.json': '{"podPidsLimit": 100, "evictionHard": {"nodefs.available": "5%"}}',
    'kubeletconfiguration2+json.yaml':
      '- op: replace\n  path: /maxPods\n  value: 12\n- op: replace\n  path: /containerRuntimeEndpoint\n  value: unix:///run/patched.sock\n',
    'z/kubeletconfiguration3+strategic.yaml': 'podPidsLimit: null\n',
    'etcd.yaml': 'not: ours\n',
    'kubeletconfiguration.txt': 'ignored',
  }

  test.each([
    { profile: 'kep', endpoint: 'unix:///run/patched.sock' },
    { profile: 'upstream', endpoint: crio },
  ])('all three types in lexical order; $profile: who wins', async ({ profile, endpoint }) => {
    const directory = join(node.top, 'patches')
    for (const [name, text] of Object.entries(patches)) {
      await mkdir(join(directory, name, '..'), { recursive: true })
      await writeFile(join(directory, name), text)
    }
    const result = await node.run(...init, '--patches', directory, '--profile', profile)
    expect(result).toMatchObject({ status: 0, stderr: '' })
    expect(parse((await node.read(configPath)) ?? '')).toMatchObject({
      maxPods: 12,
      evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '5%' },
      containerRuntimeEndpoint: endpoint,
    })
    expect(await node.read(configPath)).not.toContain('podPidsLimit')
    expect(await node.read(instancePath)).toBe(`containerRuntimeEndpoint: "${crio}"\n`)
  })
})

describe('dry run', () => {
  test('as text: every file in full and the plan for the cluster; nothing is there afterwards', async () => {
    const { status, stdout } = await node.run(...init, '--dry-run')
    expect(status).toBe(0)
    expect(stdout).toContain('dry run: nothing is changed')
    expect(stdout).toContain(
      `would write ${join(node.root, instancePath)}:\n    containerRuntimeEndpoint: "${crio}"\n`,
    )
    expect(stdout).toMatch(/would change in the cluster: write this to ConfigMap kube-system\/kubelet-config/)
    expect(await node.files()).toEqual({ [instancePath]: null, [configPath]: null, [flagsPath]: null })
    expect(await readdir(node.root)).toEqual(['etc'])
  })

  test('as JSON, with copies where kubeadm puts them', async () => {
    const { out, io } = capture()
    const copies = join(node.top, 'dry')
    await mkdir(copies)
    io.env.KUBEADM_INIT_DRYRUN_DIR = copies
    expect(await run(['node', ...init, '--dry-run', '-o', 'json', '--rootfs', node.root], io)).toBe(0)
    const plan = JSON.parse(out.stdout)
    expect(plan).toMatchObject({
      command: 'init',
      dryRun: true,
      criSocket: { endpoint: crio, from: 'flag' },
      gate: { name: 'NodeLocalCRISocket', on: true },
    })
    expect(Object.keys(plan.wouldWrite)).toEqual([...three])
    for (const path of three)
      expect(await readFile(join(copies, path.split('/').at(-1) ?? ''), 'utf8')).toBe(plan.wouldWrite[path])
  })
})

describe('status', () => {
  test('our own kubelet by its command line, a socket of its own that answers, and the annotation', async () => {
    const own = 'unix:///run/keelson/cri.sock'
    await node.put(configPath, kubeletDocument(own))
    await node.put(
      '/proc/77/cmdline',
      `/usr/bin/node\0/opt/keelson/main.js\0kubelet\0--config\0${configPath}\0--container-runtime-endpoint\0${own}\0`,
    )
    await node.listen(own)
    await node.listen(containerd)
    const { report } = await runWired(
      node,
      (ports) => ({ ...ports, cluster: clusterWith({ annotation: containerd }) }),
      ['status'],
    )
    expect(report).toMatchObject({
      wins: { endpoint: own, place: configPath, answers: true },
      listening: [containerd, own],
    })
    expect(report.places).toContainEqual({ place: 'running kubelet', endpoint: own })
    expect(report.places).toContainEqual({ place: `annotation ${annotationKey}`, endpoint: containerd })
    expect(report.findings).toMatchObject([{ problem: expect.stringContaining('the annotation names') }])
  })
})
