// The manifests of deploy/companion: the permissions are the ones that the code uses and no others, and the command line is one
// that the command takes.
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { imageReference } from '../../scripts/package/packages.js'
import { readManifest } from '../../scripts/package/release.js'
import {
  addMachineOptions,
  addSourceOptions,
  type CompanionCommandOptions,
  checkOptions,
} from '../../src/cli/companion/options.js'
import { expectGolden } from '../support/golden.js'

interface Manifest {
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[]
  readonly spec?: {
    readonly template: {
      readonly spec: {
        readonly hostNetwork: boolean
        readonly hostPID?: boolean
        readonly nodeSelector: Readonly<Record<string, string>>
        readonly initContainers?: readonly ContainerJson[]
        readonly containers: readonly ContainerJson[]
        readonly volumes: readonly {
          readonly name: string
          readonly hostPath?: { readonly path: string; readonly type: string }
        }[]
      }
    }
  }
}
interface ContainerJson {
  readonly image: string
  readonly livenessProbe?: { readonly httpGet: { readonly port: number } }
  readonly args?: readonly string[]
  readonly securityContext: { readonly capabilities: unknown; readonly privileged?: boolean }
  readonly volumeMounts?: readonly {
    readonly name: string
    readonly mountPath: string
    readonly readOnly?: boolean
    readonly mountPropagation?: string
  }[]
}

const load = (file: string): readonly Manifest[] =>
  parseAllDocuments(readFileSync(new URL(`../../deploy/companion/${file}`, import.meta.url), 'utf8')).map(
    (document) => document.toJS() as Manifest,
  )

const podOf = (manifests: readonly Manifest[]) => {
  const found = manifests.find((m) => m.kind === 'DaemonSet')?.spec?.template.spec
  if (found === undefined) throw new Error('no DaemonSet')
  return found
}

test('permissions: exactly these', () => {
  const rules = load('companion.yaml').find((m) => m.kind === 'ClusterRole')?.rules ?? []
  expect(rules.flatMap((r) => r.resources.map((name) => `${r.verbs.join(',')} ${name}`))).toEqual([
    'list,watch pods',
    'get nodes/configz',
    'create events',
    'create tokenreviews',
    'create subjectaccessreviews',
  ])
})

test('no privileges: one capability to read, not privileged, every mount has its volume', () => {
  for (const file of ['companion.yaml', 'rollback.yaml']) {
    const pod = podOf(load(file))
    const volumes = pod.volumes.map((v) => v.name)
    for (const container of [...(pod.initContainers ?? []), ...pod.containers]) {
      expect(container.securityContext.capabilities, file).toEqual({
        drop: ['ALL'],
        ...(file === 'companion.yaml' ? { add: ['SYS_PTRACE'] } : {}),
      })
      expect(container.securityContext.privileged).toBeUndefined()
      for (const mount of container.volumeMounts ?? []) expect(volumes).toContain(mount.name)
    }
    expect(pod.hostNetwork).toBe(true)
  }
})

test("the kubelet's certificate is verified, with files that the pod has", () => {
  const { args = [], volumeMounts = [] } = podOf(load('companion.yaml')).containers[0] ?? {}
  expect(args.join(' ')).not.toContain('skip-verify')
  const trusted = args.flatMap((arg) => /^--kubelet-ca-file=(.+)$/.exec(arg)?.[1] ?? [])
  expect(trusted).toHaveLength(2)
  const mounted = volumeMounts.find(({ mountPath }) => trusted[0]?.startsWith(`${mountPath}/`))
  expect(mounted).toMatchObject({ readOnly: true })
  expect(trusted[1]).toMatch(/^\/var\/run\/secrets\/kubernetes\.io\/serviceaccount\//)
})

test('the command line is one that the command takes', () => {
  const [, ...args] = podOf(load('companion.yaml')).containers[0]?.args ?? []
  const command = addSourceOptions(addMachineOptions(new Command('companion'))).exitOverride()
  command.parse([...args], { from: 'user' })
  checkOptions(command.opts<CompanionCommandOptions>())
  const rollback = podOf(load('rollback.yaml')).initContainers?.[0]?.args ?? []
  expect(rollback.slice(0, 2)).toEqual(['companion', 'rollback'])
  const undo = addMachineOptions(new Command('rollback')).exitOverride()
  undo.parse([...rollback.slice(2)], { from: 'user' })
})

test('Pod Security admits it: the namespace is labelled', () => {
  const labels = load('companion.yaml').find((m) => m.kind === 'Namespace')?.metadata.labels
  expect(labels?.['pod-security.kubernetes.io/enforce']).toBe('privileged')
})

test('directories of the host are mounted, no sockets; what pods mount below them is let go with the pod', () => {
  for (const file of ['companion.yaml', 'rollback.yaml']) {
    const pod = podOf(load(file))
    for (const { hostPath } of pod.volumes)
      if (hostPath !== undefined) expect(hostPath.type).toMatch(/^Directory/)
    const mounts = [...(pod.initContainers ?? []), ...pod.containers].flatMap((c) => c.volumeMounts ?? [])
    for (const { name, mountPropagation } of mounts)
      if (['runtime', 'kubelet', 'images'].includes(name)) expect(mountPropagation).toBe('HostToContainer')
    expect(pod.nodeSelector['kubernetes.io/os']).toBe('linux')
  }
})

test('its metrics have what they read: processes of the host, volumes, logs, the image file system', () => {
  const [container] = podOf(load('companion.yaml')).containers
  const mounts = new Map(container?.volumeMounts?.map((m) => [m.mountPath, m.readOnly]))
  for (const path of ['/var/lib/kubelet', '/var/log/pods', '/var/lib/containerd'])
    expect(mounts.get(path), path).toBe(true)
  expect(podOf(load('companion.yaml')).hostPID).toBe(true)
})

test('the probes ask the port that the command opens for them', () => {
  const [container] = podOf(load('companion.yaml')).containers
  expect(container?.args).toContain(`--healthz-port=${container?.livenessProbe?.httpGet.port}`)
})

test('the image is the one that `npm run package` makes of this version', () => {
  const images = ['companion.yaml', 'rollback.yaml'].flatMap((file) => {
    const pod = podOf(load(file))
    return [...(pod.initContainers ?? []), ...pod.containers].map((c) => c.image)
  })
  expect(new Set(images)).toEqual(new Set([imageReference(readManifest().version)]))
})

/** Containerd's places and CRI-O's. */
const crio = (text: string): string =>
  text
    .replaceAll(
      'containerd; for CRI-O there is companion-crio.yaml',
      'CRI-O; for containerd there is companion.yaml',
    )
    .replaceAll('On nodes with CRI-O: rollback-crio.yaml', 'On nodes with containerd: rollback.yaml')
    .replaceAll('-f companion.yaml', '-f companion-crio.yaml')
    .replaceAll('-f rollback.yaml', '-f rollback-crio.yaml')
    .replaceAll('see rollback.yaml', 'see rollback-crio.yaml')
    .replaceAll('/run/containerd/containerd.sock', '/run/crio/crio.sock')
    .replaceAll('/run/containerd', '/run/crio')
    .replaceAll('/var/lib/containerd', '/var/lib/containers')

for (const name of ['companion', 'rollback'])
  test(`${name}-crio.yaml is ${name}.yaml with the places of CRI-O`, () => {
    const text = readFileSync(new URL(`../../deploy/companion/${name}.yaml`, import.meta.url), 'utf8')
    expectGolden(`../../deploy/companion/${name}-crio.yaml`, crio(text))
  })

test('the rollback takes the place of the companion', () => {
  const [companion, rollback] = ['companion.yaml', 'rollback.yaml'].map(
    (file) => load(file).find((m) => m.kind === 'DaemonSet')?.metadata,
  )
  expect(rollback).toEqual({ name: companion?.name, namespace: companion?.namespace })
})

test('options that would send a token to a stranger are refused', () => {
  const check = (...args: readonly string[]) => {
    const command = addSourceOptions(addMachineOptions(new Command('companion'))).exitOverride()
    command.parse([...args], { from: 'user' })
    return () => checkOptions(command.opts<CompanionCommandOptions>())
  }
  expect(check('--kubelet-url', 'https://10.0.0.1:10250', '--kubelet-skip-verify')).toThrowError(/loopback/)
  expect(check('--kubelet-url', 'http://10.0.0.1:10255')).toThrowError(/loopback/)
  const overHttp = check('--kubelet-url', 'http://127.0.0.1:10255', '--kubelet-token-file', 'token')
  expect(overHttp).toThrowError(/never sent over http/)
  expect(check('--kubelet-url', 'http://127.0.0.1:10255')).not.toThrow()
  expect(check('--pods-from', 'api')).toThrowError(/kubeconfig/)
  expect(check('--period', '0')).toThrowError(/period/)
  expect(check('--kubelet-url', 'https://10.0.0.1:10250', '--kubelet-ca-file', 'ca.crt')).not.toThrow()
})
