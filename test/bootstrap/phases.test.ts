// Phases: listed, run alone, left out; options count wherever they stand.
import { describe, expect, test } from 'vitest'
import {
  configPath,
  containerd,
  crio,
  endpointFlag,
  flagsFile,
  flagsPath,
  instancePath,
  kubeletDocument,
  useTestNode,
} from './fixture.js'

const node = useTestNode()

const version = ['--kubernetes-version', '1.36'] as const

test('phase without a name lists them', async () => {
  const result = await node.run('init', 'phase')
  expect(result.stdout.split('\n').map((l) => l.trim().split(/\s/)[0])).toEqual([
    'preflight',
    'kubelet-start',
    'upload-config',
    'upload-config/kubeadm',
    'upload-config/kubelet',
    '',
  ])
})

test('help names the phases and what is outside', async () => {
  const { stdout } = await node.run('upgrade', 'apply', '--help')
  expect(stdout).toContain('upload-config/kubelet')
  expect(stdout).toMatch(/Certificates, control-plane\s+manifests, bootstrap tokens/)
})

describe('one phase alone', () => {
  test('kubelet-start writes the files and prints nothing for the cluster', async () => {
    const result = await node.run('init', 'phase', 'kubelet-start', ...version, '--cri-socket', crio)
    expect(result).toMatchObject({ status: 0, stderr: '' })
    expect(await node.read(instancePath)).toBe(`containerRuntimeEndpoint: "${crio}"\n`)
    expect(result.stdout).not.toContain('ConfigMap')
  })

  test('upload-config kubeadm dials nothing and writes no file', async () => {
    await node.listen(containerd)
    await node.listen(crio)
    const result = await node.run('init', 'phase', 'upload-config', 'kubeadm', ...version)
    expect(result).toMatchObject({ status: 0, stderr: '' })
    expect(result.stdout).toContain('kube-system/kubeadm-config')
    expect(result.stdout).not.toContain('kubelet-config')
    expect(Object.values(await node.files())).toEqual([null, null, null])
  })

  test('upload-config runs both of its parts', async () => {
    const result = await node.run('init', 'phase', 'upload-config', ...version, '--cri-socket', crio)
    expect(result.stdout).toContain('kube-system/kubeadm-config')
    expect(result.stdout).toContain('kube-system/kubelet-config')
  })

  test('options count before and after the word phase', async () => {
    await node.put(configPath, kubeletDocument(crio))
    await node.put(flagsPath, flagsFile(endpointFlag(crio)))
    const before = await node.files()
    const first = await node.run('upgrade', 'node', '--dry-run', 'phase', 'kubelet-config', ...version)
    expect(first).toMatchObject({ status: 0, stderr: '' })
    expect(first.stdout).toContain(`would write ${node.root}/var/lib/kubelet/instance-config.yaml`)
    const second = await node.run(
      'upgrade',
      'node',
      'phase',
      'kubelet-config',
      ...version,
      '--dry-run',
      '-o',
      'json',
    )
    expect(JSON.parse(second.stdout)).toMatchObject({ dryRun: true, kubernetesVersion: '1.36' })
    expect(await node.files()).toEqual(before)
  })
})

test('skipped phases are left out, with their parts', async () => {
  const result = await node.run(
    'init',
    ...version,
    '--cri-socket',
    crio,
    '--skip-phases',
    'upload-config,preflight',
  )
  expect(result).toMatchObject({ status: 0, stderr: '' })
  expect(result.stdout).not.toContain('ConfigMap')
  expect(await node.read(flagsPath)).toBe(flagsFile())
})
