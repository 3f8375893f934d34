// A node's life against an API server over HTTP: init uploads, join downloads, upgrade migrates, reset leaves it alone.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type ApiServer, startApiServer } from './api-server.js'
import {
  annotationKey,
  configPath,
  crio,
  endpointFlag,
  flagsFile,
  flagsPath,
  ignorePreflight,
  instancePath,
  kubeletDocument,
  nodeName,
  useTestNode,
} from './fixture.js'

const maps = '/api/v1/namespaces/kube-system/configmaps'
const nodePath = `/api/v1/nodes/${nodeName}`

const node = useTestNode()
let api: ApiServer

beforeEach(async () => {
  api = await startApiServer(node.top)
  api.objects.set(nodePath, { metadata: { name: nodeName } })
  await node.listen(crio)
})
afterEach(() => api.close())

const keelson = (command: string, version: string, ...rest: string[]) =>
  node.run(
    ...command.split(' '),
    '--kubeconfig',
    api.kubeconfig,
    '--kubernetes-version',
    version,
    ...ignorePreflight,
    ...rest,
  )
const annotation = () => api.objects.get(nodePath)?.metadata.annotations?.[annotationKey]
const kubeletInCluster = () => parse(api.objects.get(`${maps}/kubelet-config`)?.data?.kubelet ?? '')

test('from a node without the gate to one that keeps its own socket, and away', async () => {
  const init = await keelson('init', '1.33')
  expect(init).toMatchObject({ status: 0, stderr: '' })
  expect(annotation()).toBe(crio)
  expect(kubeletInCluster().containerRuntimeEndpoint).toBe('')
  expect(parse(api.objects.get(`${maps}/kubeadm-config`)?.data?.ClusterConfiguration ?? '')).toEqual({
    apiVersion: 'kubeadm.k8s.io/v1beta4',
    kind: 'ClusterConfiguration',
    kubernetesVersion: 'v1.33.0',
  })
  expect(await node.read(flagsPath)).toBe(flagsFile(endpointFlag(crio)))

  const upgrade = await keelson('upgrade apply', '1.34')
  expect(upgrade).toMatchObject({ status: 0, stderr: '' })
  expect(annotation()).toBeUndefined()
  expect(await node.read(instancePath)).toBe(`containerRuntimeEndpoint: "${crio}"\n`)
  expect(await node.read(flagsPath)).toBe(flagsFile())

  api.changes.length = 0
  const again = await keelson('upgrade apply', '1.34')
  expect(again.status).toBe(0)
  expect(api.changes).toEqual([])

  const reset = await keelson('reset', '1.34', '--force')
  expect(reset).toMatchObject({ status: 0, stderr: '' })
  expect(reset.stdout).toContain(`CRI socket: ${crio} (from instance-config.yaml)`)
  expect(Object.values(await node.files())).toEqual([null, null, null])
  expect(api.changes).toEqual([])
})

test('init with the gate on uploads the socket it found, but only in the KEP profile', async () => {
  expect((await keelson('init', '1.36')).status).toBe(0)
  expect(kubeletInCluster().containerRuntimeEndpoint).toBe(crio)
  api.objects.delete(`${maps}/kubelet-config`)
  expect((await keelson('init', '1.36', '--profile', 'upstream')).status).toBe(0)
  expect(kubeletInCluster().containerRuntimeEndpoint).toBe('')
})

test("join takes the cluster's document and puts the node's socket over it", async () => {
  api.objects.set(`${maps}/kubelet-config`, {
    metadata: { name: 'kubelet-config' },
    data: { kubelet: `${kubeletDocument('unix:///elsewhere.sock')}maxPods: 77\n` },
  })
  expect(await keelson('join', '1.36')).toMatchObject({ status: 0, stderr: '' })
  expect(parse((await node.read(configPath)) ?? '')).toMatchObject({
    maxPods: 77,
    containerRuntimeEndpoint: crio,
  })
})

test('a refusal of the API server undoes the files and says what it was', async () => {
  await node.put(configPath, kubeletDocument())
  await node.put(flagsPath, flagsFile(endpointFlag(crio)))
  api.objects.set(nodePath, { metadata: { name: nodeName, annotations: { [annotationKey]: crio } } })
  api.objects.set(`${maps}/kubelet-config`, {
    metadata: { name: 'kubelet-config' },
    data: { kubelet: kubeletDocument() },
  })
  const before = await node.files()
  api.refuse = 403
  const result = await keelson('upgrade node', '1.35')
  expect(result.stderr).toMatch(
    /annotate Node node-1: the API server responded with 403: not today \[kubeapi\.failed\]/,
  )
  expect(result.status).toBe(1)
  expect(await node.files()).toEqual(before)
  expect(annotation()).toBe(crio)
})

test('without a kubeconfig the changes of the cluster are printed', async () => {
  const result = await node.run(
    'init',
    '--kubernetes-version',
    '1.33',
    ...ignorePreflight,
    '--cri-socket',
    crio,
  )
  expect(result.status).toBe(0)
  expect(result.stdout).toContain(
    `still to do in the cluster: kubectl annotate --overwrite node node-1 ${annotationKey}=${crio}`,
  )
  expect(result.stdout).toContain('ConfigMap kube-system/kubelet-config')
  expect(api.changes).toEqual([])
})
