// The manifests of deploy/companion: the permissions are the ones that the code uses and no others, and the command line is one
// that the command takes.
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import {
  addMachineOptions,
  addSourceOptions,
  type CompanionCommandOptions,
  checkOptions,
} from '../../src/cli/companion/options.js'

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[]
  readonly spec?: {
    readonly template: {
      readonly spec: {
        readonly hostNetwork: boolean
        readonly initContainers?: readonly ContainerJson[]
        readonly containers: readonly ContainerJson[]
        readonly volumes: readonly { readonly name: string }[]
      }
    }
  }
}
interface ContainerJson {
  readonly args?: readonly string[]
  readonly securityContext: { readonly capabilities: unknown; readonly privileged?: boolean }
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
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

test('no privileges: no capability, not privileged, every mount has its volume', () => {
  for (const file of ['companion.yaml', 'rollback.yaml']) {
    const pod = podOf(load(file))
    const volumes = pod.volumes.map((v) => v.name)
    for (const container of [...(pod.initContainers ?? []), ...pod.containers]) {
      expect(container.securityContext.capabilities, file).toEqual({ drop: ['ALL'] })
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
  const mounted = volumeMounts.find(({ mountPath }) => mountPath === trusted[0])
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

test('the rollback takes the place of the companion', () => {
  const names = ['companion.yaml', 'rollback.yaml'].map(
    (file) => load(file).find((m) => m.kind === 'DaemonSet')?.metadata,
  )
  expect(names[0]).toEqual(names[1])
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
