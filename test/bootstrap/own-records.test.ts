// An upgrade never points a node at another runtime than the one that its own files name.
import { expect, test } from 'vitest'
import {
  configPath,
  containerd,
  crio,
  endpointFlag,
  flagsFile,
  flagsPath,
  ignorePreflight,
  kubeletDocument,
  useTestNode,
} from './fixture.js'

const node = useTestNode(async (node) => {
  await node.listen(containerd)
})

const upgrade = (minor: number): string[] => ['upgrade', 'node', '--kubernetes-version', `1.${minor}`]
const k3s = 'unix:///run/k3s/containerd/containerd.sock'

for (const minor of [35, 36, 37])
  test(`1.${minor}: a node whose config.yaml alone names CRI-O is not sent to the containerd that answers`, async () => {
    await node.put(configPath, kubeletDocument(crio))
    await node.put(flagsPath, flagsFile())
    const { status, stdout } = await node.run(...upgrade(minor), ...ignorePreflight)
    expect(status).toBe(0)
    expect(stdout).toContain(`CRI socket: ${crio} (from config.yaml)`)
    expect(stdout).not.toContain(containerd)
    expect(Object.values(await node.files()).join('')).not.toContain(containerd)
    expect(await node.read(configPath)).toContain(crio)
  })

test('the socket that kubeadm-flags.env names is the one that is dialled and shown', async () => {
  await node.put(configPath, kubeletDocument())
  await node.put(flagsPath, flagsFile(endpointFlag(k3s)))
  const { stdout } = await node.run(...upgrade(36), '--dry-run')
  expect(stdout).toContain(`CRI socket: ${k3s} (from kubeadm-flags.env)`)
  expect(stdout).toContain(`runtime-answers: no runtime responds at ${k3s}`)
  expect(stdout).not.toContain(containerd)
  expect(stdout).not.toContain('no file on node')
})

for (const minor of [32, 33, 34])
  test(`1.${minor}: without a kubeconfig the error says what kubeadm-flags.env has and how to pass it`, async () => {
    await node.put(configPath, kubeletDocument())
    await node.put(flagsPath, flagsFile(endpointFlag(k3s)))
    const gate = minor < 34 ? ['--feature-gates', 'NodeLocalCRISocket=true'] : []
    const { status, stderr } = await node.run(...upgrade(minor), ...gate)
    expect(status).not.toBe(0)
    expect(stderr).toContain(`kubeadm-flags.env has --container-runtime-endpoint=${k3s}`)
    expect(stderr).toContain(`kubectl annotate node node-1 kubeadm.alpha.kubernetes.io/cri-socket=${k3s}`)
  })
