// Moving a node to another endpoint and back, and what `status` says on the way.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  annotationKey,
  clusterWith,
  configPath,
  containerd,
  crio,
  effectiveEndpoint,
  endpointFlag,
  flagsFile,
  flagsPath,
  instancePath,
  kubeletDocument,
  nodeName,
  runWired,
  useTestNode,
} from './fixture.js'

const node = useTestNode()

const states = [
  {
    name: 'a node with an instance file',
    files: {
      [instancePath]: `# ours\ncontainerRuntimeEndpoint: "${crio}" # old\nmaxPods: 9\n`,
      [configPath]: `# by hand\n${kubeletDocument(crio)}maxPods: 9\n`,
      [flagsPath]: flagsFile('--v=2'),
    },
  },
  {
    name: 'a node that goes by the flag',
    files: {
      [configPath]: kubeletDocument(),
      [flagsPath]: `# x\nKUBELET_KUBEADM_ARGS="--v=2 --container-runtime-endpoint ${crio} --a=b"\nY=1\n`,
    },
  },
  {
    name: 'a node with an instance file and a left-over flag',
    files: {
      [instancePath]: `containerRuntimeEndpoint: "${crio}"\n`,
      [configPath]: kubeletDocument(crio),
      [flagsPath]: flagsFile(`${endpointFlag(crio)} --v=2`),
    },
  },
  {
    name: 'a node whose config.yaml is JSON',
    files: { [configPath]: '{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration"}' },
  },
]

describe('use-socket', () => {
  test.each(states)('$name: there and back, byte for byte', async ({ files }) => {
    for (const [path, text] of Object.entries(files)) if (text !== undefined) await node.put(path, text)
    await node.listen(containerd)
    await node.listen(crio)
    const before = await node.files()
    expect(await node.run('use-socket', containerd)).toMatchObject({ status: 0, stderr: '' })
    expect(effectiveEndpoint(await node.files())).toBe(containerd)
    expect(await node.run('use-socket', 'unix:///var/run/crio/crio.sock')).toMatchObject({ status: 0 })
    expect(effectiveEndpoint(await node.files())).toBe(crio)
    expect(await node.run('use-socket', '--undo')).toMatchObject({ status: 0, stderr: '' })
    expect(effectiveEndpoint(await node.files())).toBe(containerd)
    expect(await node.run('use-socket', '--undo')).toMatchObject({ status: 0, stderr: '' })
    expect(await node.files()).toEqual(before)
    const third = await node.run('use-socket', '--undo')
    expect(third).toMatchObject({ status: 1 })
    expect(third.stderr).toMatch(/no change is recorded/)
  })

  test.each(states)('$name: --undo names the socket that the node goes back to', async ({ files }) => {
    for (const [path, text] of Object.entries(files)) if (text !== undefined) await node.put(path, text)
    await node.listen(containerd)
    const before = (await node.run('status')).stdout.match(/the kubelet uses (\S+)/)?.[1]
    await node.run('use-socket', containerd)
    await node.run('use-socket', 'unix:///run/other.sock', '--force')
    expect((await node.run('use-socket', '--undo', '--dry-run')).stdout).toContain(`back to ${containerd}\n`)
    expect((await node.run('use-socket', '--undo')).stdout).toMatch(
      `use-socket --undo: back to ${containerd}\n`,
    )
    expect((await node.run('use-socket', '--undo')).stdout).toMatch(`use-socket --undo: back to ${before}\n`)
  })

  test('comments and keys of others stay', async () => {
    const [state] = states
    for (const [path, text] of Object.entries(state?.files ?? {})) await node.put(path, text ?? '')
    await node.listen(containerd)
    await node.run('use-socket', containerd)
    expect(await node.read(instancePath)).toBe(
      `# ours\ncontainerRuntimeEndpoint: "${containerd}"\nmaxPods: 9\n`,
    )
    expect(await node.read(configPath)).toBe(`# by hand\n${kubeletDocument(containerd)}maxPods: 9\n`)
  })

  test('an endpoint where nothing answers is refused, and forced', async () => {
    await node.put(configPath, kubeletDocument(crio))
    const before = await node.files()
    const refused = await node.run('use-socket', containerd)
    expect(refused.status).toBe(1)
    expect(refused.stderr).toMatch(/no runtime responds there.*\[node\.refused\]/)
    expect(await node.files()).toEqual(before)
    expect(await node.run('use-socket', containerd, '--force')).toMatchObject({ status: 0 })
  })

  test('the way back is refused when somebody changed a file since', async () => {
    await node.put(configPath, kubeletDocument(crio))
    await node.run('use-socket', containerd, '--force')
    await node.put(configPath, `${kubeletDocument(containerd)}maxPods: 3\n`)
    const result = await node.run('use-socket', '--undo')
    expect(result.stderr).toMatch(/config\.yaml was edited since.*\[node\.refused\]/)
    expect(result.status).toBe(1)
  })

  test("the Node's annotation moves too, and comes back", async () => {
    const cluster = clusterWith({ annotation: crio })
    await node.put(configPath, kubeletDocument())
    await node.put(flagsPath, flagsFile(endpointFlag(crio)))
    const wired = (...args: string[]) => runWired(node, (ports) => ({ ...ports, cluster }), args)
    expect((await wired('use-socket', containerd, '--force')).error).toBeUndefined()
    expect(cluster.nodes.get(nodeName)?.get(annotationKey)).toBe(containerd)
    expect((await wired('use-socket', '--undo')).error).toBeUndefined()
    expect(cluster.nodes.get(nodeName)?.get(annotationKey)).toBe(crio)
  })
})

describe('status', () => {
  test('a sound node: every place, and no finding', async () => {
    await node.put(instancePath, `containerRuntimeEndpoint: "${crio}"\n`)
    await node.put(configPath, kubeletDocument(crio))
    await node.put(flagsPath, flagsFile())
    await node.listen(crio)
    const result = await node.run('status')
    expect(result).toMatchObject({ status: 0, stderr: '' })
    const rows = [
      [join(node.root, flagsPath), '- (no --container-runtime-endpoint)'],
      [join(node.root, instancePath), crio],
      [join(node.root, configPath), crio],
      [`annotation ${annotationKey}`, '- (unknown without --kubeconfig)'],
      ['running kubelet', '- (no kubelet is running)'],
      ['listening', crio],
    ] as const
    const width = Math.max(...rows.map(([place]) => place.length))
    expect(result.stdout).toBe(
      [
        'node node-1',
        ...rows.map(([place, says]) => `  ${place.padEnd(width)}  ${says}`),
        `the kubelet uses ${crio} (${join(node.root, configPath)}: no flag is set)\n`,
      ].join('\n'),
    )
  })

  test('a left-over flag, a running kubelet of another mind, a dead socket: each with what to do', async () => {
    await node.put(instancePath, `containerRuntimeEndpoint: "${crio}"\n`)
    await node.put(configPath, kubeletDocument(crio))
    await node.put(flagsPath, flagsFile(endpointFlag(containerd)))
    await node.put('/proc/4242/cmdline', `/usr/bin/kubelet\0--container-runtime-endpoint=${crio}\0`)
    const result = await node.run('status', '-o', 'json')
    expect(result.status).toBe(1)
    const status = JSON.parse(result.stdout)
    expect(status.wins).toMatchObject({
      endpoint: containerd,
      answers: false,
      why: 'a flag overrides config.yaml',
    })
    expect(status.findings.map((f: { problem: string }) => f.problem)).toEqual([
      `no runtime responds at ${containerd}`,
      expect.stringContaining('which overrides'),
      `the running kubelet still uses ${crio}`,
    ])
  })

  test('a broken file does not hide the others', async () => {
    await node.put(instancePath, '- no mapping\n')
    await node.put(configPath, kubeletDocument(crio))
    const result = await node.run('status', '-o', 'json')
    expect(result.status).toBe(1)
    expect(JSON.parse(result.stdout).wins.endpoint).toBe(crio)
    expect(result.stdout).toContain('not a mapping of keys')
  })
})
