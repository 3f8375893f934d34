// `cri install` there and back: every file, link, mode, owner and directory of the root is compared.
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { run } from '../../src/cli/program.js'
import {
  createManager,
  crictlPath,
  giveAway,
  listen,
  recordPath,
  runCri,
  snapshot,
  unitPath,
  wantsPath,
} from './cri-fixture.js'
import {
  annotationKey,
  capture,
  clusterWith,
  configPath,
  containerd,
  crio,
  effectiveEndpoint,
  endpointFlag,
  flagsFile,
  flagsPath,
  ignorePreflight,
  instancePath,
  kubeletDocument,
  nodeName,
  useTestNode,
} from './fixture.js'

const node = useTestNode()

const cri = async (...args: string[]) => {
  const { out, io } = capture()
  const status = await run(['cri', ...args, '--rootfs', node.root], io)
  return { status, ...out }
}

const putGateOn = async () => {
  await node.put(instancePath, `# ours\ncontainerRuntimeEndpoint: "${crio}" # old\nmaxPods: 9\n`)
  await node.put(configPath, kubeletDocument(crio))
  await node.put(flagsPath, flagsFile('--v=2'))
}

const states: readonly { name: string; arrange: () => Promise<void>; upstream: string }[] = [
  { name: 'an instance file, no crictl.yaml', arrange: putGateOn, upstream: crio },
  {
    name: 'a flag, and crictl.yaml of another mode and owner with comments',
    arrange: async () => {
      await node.put(configPath, kubeletDocument())
      await node.put(flagsPath, flagsFile(`${endpointFlag(crio)} --v=2`))
      await node.put(crictlPath, `# mine\nruntime-endpoint: ${crio}\nimage-endpoint: ${crio}\ntimeout: 3`)
      await chmod(join(node.root, crictlPath), 0o600)
      await giveAway(node, crictlPath)
    },
    upstream: crio,
  },
  {
    name: 'nothing names an endpoint; config.yaml is JSON of mode 0640, crictl.yaml has a byte order mark',
    arrange: async () => {
      await node.put(
        configPath,
        '{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration"}',
      )
      await chmod(join(node.root, configPath), 0o640)
      await node.put(crictlPath, '\ufeffdebug: true\n')
    },
    upstream: 'unix:///var/run/containerd/containerd.sock',
  },
  {
    name: 'crictl.yaml and the kubelet directory are links',
    arrange: async () => {
      await mkdir(join(node.root, 'data/kubelet'), { recursive: true })
      await mkdir(join(node.root, 'var/lib'), { recursive: true })
      await symlink('../../data/kubelet', join(node.root, 'var/lib/kubelet'))
      await writeFile(join(node.root, 'data/kubelet/config.yaml'), kubeletDocument(crio))
      await writeFile(join(node.root, 'data/crictl'), `runtime-endpoint: ${crio}\n`)
      await symlink('../data/crictl', join(node.root, crictlPath))
    },
    upstream: crio,
  },
  {
    name: "a unit of the same name by somebody else, enabled another way, beside systemd's directories",
    arrange: async () => {
      await putGateOn()
      await node.put(unitPath, '[Service]\nExecStart=/opt/mine\n')
      await mkdir(join(node.root, dirname(wantsPath)), { recursive: true })
      await symlink('/etc/systemd/system/keelson-cri.service', join(node.root, wantsPath))
    },
    upstream: crio,
  },
]

describe('there and back', () => {
  test.each(states)('$name', async ({ arrange, upstream }) => {
    await arrange()
    const before = await snapshot(node)
    const dry = await cri('install', '--dry-run')
    expect(dry).toMatchObject({ status: 0, stderr: '' })
    expect(await snapshot(node)).toEqual(before)

    expect(await cri('install')).toMatchObject({ status: 0, stderr: '' })
    expect(effectiveEndpoint(await node.files())).toBe(listen)
    expect(await node.read(crictlPath)).toContain(`runtime-endpoint: "${listen}"`)
    expect(await node.read(unitPath)).toContain(
      `ExecStart=/usr/local/bin/keelson cri --upstream ${upstream} --listen ${listen} `,
    )
    const installed = await snapshot(node)
    expect(installed[wantsPath.slice(1)]).toMatch(/-> \.\.\/keelson-cri\.service$/)
    // What was there keeps its mode and owner.
    for (const path of Object.keys(before))
      expect(installed[path]?.split(' ').slice(0, 2), path).toEqual(before[path]?.split(' ').slice(0, 2))

    const again = await cri('install')
    expect(again.stdout).toContain('no changes needed')
    expect(await snapshot(node)).toEqual(installed)

    expect(await cri('uninstall')).toMatchObject({ status: 0, stderr: '' })
    expect(await snapshot(node)).toEqual(before)
    const third = await cri('uninstall')
    expect(third.stdout).toContain('not installed')
    expect(third.status).toBe(0)
    expect(await snapshot(node)).toEqual(before)
  })

  test('installed again with other options, the way back still leads to the start', async () => {
    await putGateOn()
    const before = await snapshot(node)
    await cri('install')
    expect(
      await cri(
        'install',
        '--runtime-endpoint',
        containerd,
        '--mode',
        'observe',
        '--values',
        'trust',
        '--program',
        '/opt/keelson',
      ),
    ).toMatchObject({
      status: 0,
    })
    expect(await node.read(unitPath)).toContain(
      `/opt/keelson cri --upstream ${containerd} --listen ${listen} --mode observe --values trust `,
    )
    await cri('uninstall')
    expect(await snapshot(node)).toEqual(before)
  })

  test("the Node's annotation of a node without the gate moves too, and comes back", async () => {
    const cluster = clusterWith({ annotation: crio })
    await node.put(configPath, kubeletDocument())
    await node.put(flagsPath, flagsFile(endpointFlag(crio)))
    const annotation = () => cluster.nodes.get(nodeName)?.get(annotationKey)
    expect((await runCri(node, (p) => ({ ...p, cluster }), 'install')).error).toBeUndefined()
    expect(annotation()).toBe(listen)
    expect((await runCri(node, (p) => ({ ...p, cluster }), 'uninstall')).error).toBeUndefined()
    expect(annotation()).toBe(crio)
  })
})

describe('edited after the installation', () => {
  beforeEach(async () => {
    await putGateOn()
    await node.put(crictlPath, `runtime-endpoint: ${crio}\n`)
    await cri('install')
  })

  test('an upgrade wrote config.yaml anew: its text stays, the endpoint goes back', async () => {
    await node.put(configPath, `${kubeletDocument(listen)}maxPods: 50\n`)
    const result = await cri('uninstall')
    expect(result).toMatchObject({ status: 0, stderr: '' })
    expect(result.stdout).toContain(`edited after the installation: ${join(node.root, configPath)}`)
    expect(await node.read(configPath)).toBe(`${kubeletDocument(crio)}maxPods: 50\n`)
    expect(effectiveEndpoint(await node.files())).toBe(crio)
    expect(await node.read(unitPath)).toBeUndefined()
  })

  test('crictl.yaml was edited: the edit stays, the endpoint goes back', async () => {
    await node.put(crictlPath, `runtime-endpoint: "${listen}"\ntimeout: 9\n`)
    expect((await cri('uninstall')).status).toBe(0)
    expect(await node.read(crictlPath)).toBe(`runtime-endpoint: "${crio}"\ntimeout: 9\n`)
  })

  test('the unit was edited: refused, and forced', async () => {
    await node.put(unitPath, '[Service]\nExecStart=/opt/mine\n')
    const before = await snapshot(node)
    const result = await cri('uninstall')
    expect(result.status).toBe(1)
    expect(result.stderr).toMatch(/keelson-cri\.service was edited after.*\[node\.refused\]/)
    expect(await snapshot(node)).toEqual(before)
    expect(await cri('uninstall', '--force')).toMatchObject({ status: 0 })
    expect(await node.read(unitPath)).toBeUndefined()
  })

  test('the node was reset: the service goes, no kubelet file comes', async () => {
    await node.run('reset', '--force', '--cri-socket', crio, ...ignorePreflight)
    expect(await cri('uninstall')).toMatchObject({ status: 0, stderr: '' })
    expect(Object.values(await node.files())).toEqual([null, null, null])
    expect(await node.read(unitPath)).toBeUndefined()
    expect(await node.read(recordPath)).toBeUndefined()
  })

  test('moved on with use-socket: first that goes back, and use-socket does not undo an installation', async () => {
    const undo = await node.run('use-socket', '--undo')
    expect(undo.stderr).toMatch(/keelson cri uninstall \[node\.refused\]/)
    await node.run('use-socket', containerd, '--force')
    for (const name of ['install', 'uninstall']) {
      const result = await cri(name)
      expect(result.status).toBe(1)
      expect(result.stderr).toMatch(/use-socket --undo \[node\.refused\]/)
    }
    expect(await node.run('use-socket', '--undo')).toMatchObject({ status: 0 })
    expect(await cri('uninstall')).toMatchObject({ status: 0 })
  })
})

describe('refused, with nothing changed', () => {
  const rows = [
    {
      name: 'a foreign scheme',
      args: ['--runtime-endpoint', 'tcp://127.0.0.1:1'],
      status: 2,
      says: /--runtime-endpoint.*\[config\.invalid\]/,
    },
    {
      name: 'a socket in front of itself',
      args: ['--runtime-endpoint', listen],
      status: 2,
      says: /in front of itself.*\[usage\.invalid\]/,
    },
    { name: 'an unknown mode', args: ['--mode', 'both'], status: 2, says: /--mode both.*\[usage\.invalid\]/ },
    {
      name: 'unknown values',
      args: ['--values', 'guess'],
      status: 2,
      says: /--values guess.*\[usage\.invalid\]/,
    },
  ]
  test.each(rows)('$name', async ({ args, status, says }) => {
    await putGateOn()
    const before = await snapshot(node)
    const result = await cri('install', ...args)
    expect(result.stderr).toMatch(says)
    expect(result.status).toBe(status)
    expect(await snapshot(node)).toEqual(before)
  })

  test.each([
    {
      name: 'a node that never joined',
      path: flagsPath,
      text: '',
      says: /config\.yaml.*\[node\.file-missing\]/,
    },
    {
      name: 'crictl.yaml that is no mapping',
      path: crictlPath,
      text: '- a\n',
      says: /crictl\.yaml.*\[(yaml\.invalid|node\.file-missing)\]/,
    },
  ])('$name', async ({ path, text, says }) => {
    if (path === crictlPath) await putGateOn()
    await node.put(path, text)
    const before = await snapshot(node)
    const result = await cri('install')
    expect(result.stderr).toMatch(says)
    expect(result.stderr.trim().split('\n')).toHaveLength(1)
    expect(await snapshot(node)).toEqual(before)
  })

  test('on a live node: a runtime that does not answer, and no systemd that could run the server', async () => {
    await putGateOn()
    const live = createManager(node, undefined).change
    expect((await runCri(node, live, 'install')).error?.message).toMatch(
      /crio\.sock: no runtime responds there/,
    )
    await node.listen(crio)
    const bare: typeof live = (ports) => ({ ...live(ports), services: ports.services })
    expect((await runCri(node, bare, 'install')).error?.message).toMatch(/systemd is not running here/)
    await node.listen(listen)
    expect((await runCri(node, bare, 'install')).error).toBeUndefined()
  })

  test('a file where the link should be', async () => {
    await putGateOn()
    await node.put(wantsPath, 'x')
    const before = await snapshot(node)
    const result = await cri('install')
    expect(result.stderr).toMatch(/keelson-cri\.service: not a link.*\[node\.refused\]/)
    expect(await snapshot(node)).toEqual(before)
  })
})

test('-o json holds the plan and what was done', async () => {
  await putGateOn()
  const dry = JSON.parse((await cri('install', '--dry-run', '-o', 'json')).stdout)
  expect(dry.outcome).toBeUndefined()
  expect(dry.plan.writes.map((w: { path: string }) => w.path)).toEqual([
    unitPath,
    wantsPath,
    instancePath,
    configPath,
    crictlPath,
    recordPath,
  ])
  const done = JSON.parse((await cri('install', '-o', 'json')).stdout)
  expect(done.server).toMatchObject({ listen, upstream: crio, previous: crio, wasActive: false })
  expect(done.outcome.written).toHaveLength(6)
})
