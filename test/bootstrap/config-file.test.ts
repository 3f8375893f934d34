// A --config file with every document that kubeadm users have, in both versions of its shapes.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  configPath,
  containerd,
  crio,
  endpointFlag,
  flagsFile,
  flagsPath,
  ignorePreflight,
  instancePath,
  useTestNode,
} from './fixture.js'

const node = useTestNode()

async function config(text: string): Promise<string> {
  const path = join(node.top, 'config.yaml')
  await writeFile(path, text)
  return path
}

test('v1beta4: socket, extra arguments, taints, name, gates, domain and kubelet configuration', async () => {
  await writeFile(join(node.top, 'kubeletconfiguration+merge.yaml'), 'maxPods: 7\n')
  const path = await config(`apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration:
  name: other-name
  criSocket: ${crio}
  kubeletExtraArgs:
    - {name: v, value: "4"}
    - {name: node-labels, value: "a=b"}
  taints:
    - {key: dedicated, value: gpu, effect: NoSchedule}
    - {key: alone, effect: NoExecute}
patches: {directory: ${node.top}}
skipPhases: [upload-config/kubeadm]
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.34.1
featureGates: {NodeLocalCRISocket: false}
networking: {dnsDomain: demo.test}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
rotateCertificates: true
---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
`)
  const result = await node.run('init', '--config', path, ...ignorePreflight)
  expect(result).toMatchObject({ status: 0, stderr: '' })
  expect(result.stdout).toContain('NodeLocalCRISocket: off (beta in 1.34.1)')
  expect(result.stdout).toContain('KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1) is ignored')
  expect(result.stdout).not.toContain('kubeadm-config')
  expect(await node.read(flagsPath)).toBe(
    flagsFile(
      `${endpointFlag(crio)} --hostname-override=other-name --node-labels=a=b --register-with-taints=dedicated=gpu:NoSchedule,alone:NoExecute --v=4`,
    ),
  )
  expect(parse((await node.read(configPath)) ?? '')).toEqual({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    cgroupDriver: 'systemd',
    clusterDomain: 'demo.test',
    containerRuntimeEndpoint: '',
    maxPods: 7,
    rotateCertificates: true,
  })
})

test('v1beta3 has its extra arguments as a mapping', async () => {
  const path = await config(`apiVersion: kubeadm.k8s.io/v1beta3
kind: JoinConfiguration
nodeRegistration:
  criSocket: ${crio}
  kubeletExtraArgs: {v: "4", cgroup-root: /x}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
`)
  const result = await node.run('join', '--config', path, '--kubernetes-version', '1.36', ...ignorePreflight)
  expect(result).toMatchObject({ status: 0, stderr: '' })
  expect(await node.read(flagsPath)).toBe(flagsFile('--cgroup-root=/x --v=4'))
})

test('a value that would break the one line of kubeadm-flags.env is refused', async () => {
  const path = await config(`apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration:
  kubeletExtraArgs: [{name: node-labels, value: 'a" EVIL="1'}]
`)
  const result = await node.run('init', '--config', path, '--kubernetes-version', '1.36', ...ignorePreflight)
  expect(result.stderr).toMatch(/kubeletExtraArgs.*\[config\.invalid\]/)
  expect(Object.values(await node.files())).toEqual([null, null, null])
})

test('UpgradeConfiguration and ResetConfiguration', async () => {
  await node.put(instancePath, `containerRuntimeEndpoint: "${crio}"\n`)
  await node.put(configPath, `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n`)
  const upgrade = await config(`apiVersion: kubeadm.k8s.io/v1beta4
kind: UpgradeConfiguration
apply: {kubernetesVersion: v1.35.0, dryRun: true, ignorePreflightErrors: [all]}
`)
  const planned = await node.run('upgrade', 'apply', '--config', upgrade, '-o', 'json')
  expect(JSON.parse(planned.stdout)).toMatchObject({ dryRun: true, kubernetesVersion: '1.35.0' })
  const reset = await config(`apiVersion: kubeadm.k8s.io/v1beta4
kind: ResetConfiguration
criSocket: ${containerd}
force: true
cleanupTmpDir: true
certificatesDir: /etc/certs
`)
  await node.put('/etc/certs/ca.crt', 'x')
  const result = await node.run('reset', '--config', reset, '-o', 'json')
  expect(result).toMatchObject({ status: 0, stderr: '' })
  expect(JSON.parse(result.stdout).criSocket).toEqual({ endpoint: containerd, from: 'config' })
  expect(await node.read('/etc/certs/ca.crt')).toBeUndefined()
})

test('flag and config file may not stand together, also when the file names no socket', async () => {
  const path = await config('apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\n')
  const result = await node.run('init', '--config', path, '--cri-socket', crio)
  expect(result.status).toBe(2)
  expect(result.stderr).toMatch(/can not mix --config with --cri-socket/)
})
