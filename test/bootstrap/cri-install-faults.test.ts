// `cri install` and `uninstall` under faults: systemd in what order it is told, each of its refusals, and the power
// cut at every single change.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NodePorts } from '../../src/ports/bootstrap.js'
import {
  createManager,
  crictlPath,
  listen,
  type Manager,
  runCri,
  snapshot,
  unitPath,
  wantsPath,
} from './cri-fixture.js'
import {
  configPath,
  createTestNode,
  crio,
  effectiveEndpoint,
  instancePath,
  kubeletDocument,
  type TestNode,
} from './fixture.js'
import { dyingPorts, PowerCut } from './power-cut.js'

let node: TestNode
let manager: Manager

async function arrange(): Promise<void> {
  node = await createTestNode()
  await node.put(instancePath, `containerRuntimeEndpoint: "${crio}"\n`)
  await node.put(configPath, kubeletDocument(crio))
  await node.put(crictlPath, `runtime-endpoint: ${crio}\n`)
  await node.listen(crio)
  // What systemd would have made.
  await node.put('/run/keelson/.keep', '')
  manager = createManager(node, 'kubelet.service')
}
beforeEach(arrange)
afterEach(async () => node.close())

const cri = (name: 'install' | 'uninstall', change = (p: NodePorts) => p) =>
  runCri(node, (p) => change(manager.change(p)), name)

describe('systemd', () => {
  test('the server runs and answers before the kubelet is sent to it, and ends after the kubelet left it', async () => {
    const seen: string[] = []
    manager.before = (call) => {
      seen.push(call)
    }
    const endpoints: Record<string, string> = {}
    const installed = await cri('install', (ports) => ({
      ...ports,
      services: {
        ...ports.services,
        async restart(unit) {
          endpoints[unit] = effectiveEndpoint(await node.files())
          await ports.services.restart(unit)
        },
      },
    }))
    expect(installed.error).toBeUndefined()
    expect(seen).toEqual(['reload', 'restart keelson-cri.service', 'restart kubelet.service'])
    expect(endpoints['keelson-cri.service']).toBe(crio)
    expect(installed.stdout).toMatch(/started keelson-cri\.service\nrestarted kubelet\.service\n/)

    seen.length = 0
    expect((await cri('install')).stdout).toContain('no changes needed')
    expect(seen).toEqual([])
    manager.active.delete('keelson-cri.service')
    expect((await cri('install')).stdout).toContain('started keelson-cri.service')
    expect(seen).toEqual(['reload', 'restart keelson-cri.service'])

    seen.length = 0
    const out = await cri('uninstall')
    expect(out.error).toBeUndefined()
    expect(seen).toEqual(['restart kubelet.service', 'stop keelson-cri.service', 'reload'])
    expect(effectiveEndpoint(await node.files())).toBe(crio)
  })

  test("a server of somebody else's unit runs again afterwards", async () => {
    await node.put(unitPath, '[Service]\nExecStart=/opt/mine\n')
    manager.active.add('keelson-cri.service')
    const before = await snapshot(node)
    expect((await cri('install')).error).toBeUndefined()
    manager.calls.length = 0
    expect((await cri('uninstall')).error).toBeUndefined()
    expect(manager.calls).toEqual(['restart kubelet.service', 'reload', 'restart keelson-cri.service'])
    expect(await snapshot(node)).toEqual(before)
  })

  test.each([
    { name: 'install', refused: 'reload' },
    { name: 'install', refused: 'restart keelson-cri.service' },
    { name: 'install', refused: 'restart kubelet.service' },
    { name: 'uninstall', refused: 'restart kubelet.service' },
    { name: 'uninstall', refused: 'stop keelson-cri.service' },
  ] as const)('$name: systemd refuses to $refused, and all is as before', async ({ name, refused }) => {
    if (name === 'uninstall') await cri('install')
    const before = await snapshot(node)
    const active = [...manager.active]
    let once = true
    manager.before = (call) => {
      if (call === refused && once) {
        once = false
        throw new Error(`no ${call}`)
      }
    }
    expect((await cri(name)).error?.message).toBe(`no ${refused}`)
    expect(await snapshot(node)).toEqual(before)
    expect([...manager.active].sort()).toEqual(active.sort())
    expect((await cri(name)).error).toBeUndefined()
  })

  test('a server that never answers is taken out again', async () => {
    const before = await snapshot(node)
    let now = 0
    const result = await cri('install', (ports) => ({
      ...ports,
      now() {
        now += 20_000
        return new Date(now)
      },
      services: { ...ports.services, restart: async () => undefined },
    }))
    expect(result.error?.message).toMatch(/no response at .*cri\.sock after 60 s; see journalctl/)
    expect(await snapshot(node)).toEqual(before)
  })
})

describe.each(['install', 'uninstall'] as const)('power cut: %s', (name) => {
  test.each([false, true])('at every change, torn writes: %s', { timeout: 120_000 }, async (torn) => {
    const prepare = async () => {
      await node.close()
      await arrange()
      if (name === 'uninstall') await cri('install')
      return snapshot(node)
    }
    const before = await prepare()
    let changes = () => 0
    const fine = await cri(name, (ports) => {
      const dying = dyingPorts(ports, node.root, -1, false)
      changes = dying.count
      return dying.ports
    })
    expect(fine.error).toBeUndefined()
    const total = changes()
    expect(total).toBeGreaterThan(10)
    const after = await node.files()
    const stable = (tree: Record<string, string>) =>
      Object.fromEntries(Object.entries(tree).filter(([path]) => !path.includes('var/lib/keelson')))
    const end = stable(await snapshot(node))

    for (let at = 0; at < total; at++) {
      await prepare()
      const cut = await cri(name, (ports) => dyingPorts(ports, node.root, at, torn).ports)
      if (cut.error === undefined) {
        // All was done but for an empty directory of our own.
        expect(stable(await snapshot(node)), `tree after ${at}`).toEqual(end)
        expect(at).toBeGreaterThan(total - 2)
        continue
      }
      expect(cut.error, `cut at ${at}`).toBeInstanceOf(PowerCut)
      const dark = await snapshot(node)
      for (const path of [unitPath, wantsPath, crictlPath, instancePath, configPath])
        expect([before[path.slice(1)], end[path.slice(1)]], `${path} at ${at}`).toContain(dark[path.slice(1)])
      // After a boot the kubelet finds the runtime, or a server whose unit is there and enabled.
      const endpoint = effectiveEndpoint(await node.files())
      if (endpoint === listen)
        expect([dark[unitPath.slice(1)], dark[wantsPath.slice(1)]], `server at ${at}`).not.toContain(
          undefined,
        )
      else expect(endpoint).toBe(crio)
      const next = await cri(name)
      expect(next.error, `next command after ${at}`).toBeUndefined()
      expect(await node.files(), `files after ${at}`).toEqual(after)
      expect(stable(await snapshot(node)), `tree after ${at}`).toEqual(end)
      expect(manager.active.has('keelson-cri.service'), `server after ${at}`).toBe(name === 'install')
    }
  })
})
