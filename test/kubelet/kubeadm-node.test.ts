// The command line and files of a node that kubeadm set up, put together from our own unit and drop-in as systemd
// would, start the kubelet without an error.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { runtimeConfig } from '../../src/fakes/cri/shapes.js'
import { ask } from '../serve/client.js'
import { createAuthority } from '../serve/pki.js'
import { type Bundle, bundleCommand, freePorts, startCommand } from '../support/command.js'
import { version } from '../support/kubelet-fixture.js'
import { createTestApiServer, reviewedToken } from './api-server.js'

let bundle: Bundle
beforeAll(async () => {
  bundle = await bundleCommand()
})
afterAll(() => bundle.remove())

const unit = join(import.meta.dirname, '../../deploy/systemd/keelson-kubelet.service')

/** systemd's rules as far as these files use them: a file wins over Environment=, `-` may be missing, $X is split. */
function commandLine(root: string): string[] {
  const text = readFileSync(`${unit}.d/10-kubeadm.conf`, 'utf8')
  const values = new Map<string, string>()
  for (const [, name = '', value = ''] of text.matchAll(/^Environment="(\w+)=(.*)"$/gm))
    values.set(name, value)
  for (const [, path = ''] of text.matchAll(/^EnvironmentFile=-(.+)$/gm)) {
    let file = ''
    try {
      file = readFileSync(join(root, path), 'utf8')
    } catch {
      continue
    }
    for (const [, name = '', value = ''] of file.matchAll(/^(\w+)="?(.*?)"?$/gm)) values.set(name, value)
  }
  const exec = [...text.matchAll(/^ExecStart=(.+)$/gm)].at(-1)?.[1] ?? ''
  const [program, ...words] = exec.split(' ')
  expect(program).toBe('/usr/local/bin/keelson')
  return words
    .flatMap((word) => (word.startsWith('$') ? (values.get(word.slice(1)) ?? '').split(' ') : [word]))
    .filter((word) => word !== '')
    .map((word) => word.replace(/=(\/(etc\/kubernetes|var\/lib\/kubelet)\/)/, `=${root}$1`))
}

/** What `kubeadm init` leaves in config.yaml: defaults of the cluster, zero values for everything else. */
const kubeadmConfig = (root: string): string => `apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  anonymous:
    enabled: false
  webhook:
    cacheTTL: 0s
    enabled: true
  x509:
    clientCAFile: ${root}/etc/kubernetes/pki/ca.crt
authorization:
  mode: Webhook
  webhook:
    cacheAuthorizedTTL: 0s
    cacheUnauthorizedTTL: 0s
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
containerRuntimeEndpoint: ""
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
kind: KubeletConfiguration
logging:
  flushFrequency: 0
  options:
    json:
      infoBufferSize: "0"
    text:
      infoBufferSize: "0"
  verbosity: 0
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: ${root}/etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
`

for (const { name, kubernetes, more } of [
  {
    name: 'kubeadm 1.34',
    kubernetes: '1.34',
    more: ' --pod-infra-container-image=registry.k8s.io/pause:3.10',
  },
  { name: 'kubeadm 1.36', kubernetes: '1.36', more: ' --node-ip=127.0.0.1' },
])
  test(`${name}: unit drop-in, flags file and config.yaml`, async () => {
    const root = await mkdtemp(join(tmpdir(), 'keelson-node-'))
    const put = (path: string, text: string): void => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    const runtime = await startFakeRuntime({ Version: version, RuntimeConfig: runtimeConfig.cgroupfs })
    const [port = 0, healthPort = 0] = await freePorts(2)
    put('etc/kubernetes/pki/ca.crt', (await createAuthority('cluster')).certificate)
    const api = await createTestApiServer(join(root, 'etc/kubernetes'))
    await api.listen()
    put('var/lib/kubelet/config.yaml', kubeadmConfig(root))
    put(
      'var/lib/kubelet/kubeadm-flags.env',
      `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=${runtime.endpoint}${more}"\n`,
    )
    const extra = [
      `--root-dir=${root}/var/lib/kubelet`,
      `--port=${port}`,
      `--healthz-port=${healthPort}`,
      '--address=127.0.0.1',
      '--hostname-override=node-1',
      '--fail-cgroupv1=false',
      `--kubernetes-version=${kubernetes}`,
    ]
    put('etc/default/kubelet', `KUBELET_EXTRA_ARGS=${extra.join(' ')}\n`)

    const argv = commandLine(root)
    expect(argv.join(' ')).toContain('--bootstrap-kubeconfig=')
    const kubelet = startCommand([bundle.main, ...argv])
    try {
      await kubelet.says('the kubelet is up')
      expect(kubelet.output()).not.toMatch(/^E\d{4}/m)
      await kubelet.says('the Node is registered')
      const configz = await ask({ port, path: '/configz', token: reviewedToken })
      expect(configz.status).toBe(200)
      const { kubeletconfig, keelson } = JSON.parse(configz.body)
      expect(kubeletconfig.cgroupDriver).toBe('cgroupfs')
      expect(keelson.cgroupDriver).toMatchObject({
        driver: 'cgroupfs',
        source: 'cri',
        overruled: { value: 'systemd' },
      })
      expect(keelson.origins.cgroupDriver).toBe('runtime (RuntimeConfig)')
      expect(keelson.origins.staticPodPath).toMatch(/config\.yaml:\d+$/)
      expect(keelson.origins.containerRuntimeEndpoint).toBe('flag --container-runtime-endpoint')
      expect(keelson.origins.runtimeRequestTimeout).toBe('default')
      expect((await ask({ port, path: '/configz', token: 'unknown' })).status).toBe(401)
      const health = await fetch(`http://127.0.0.1:${healthPort}/healthz`)
      expect(await health.text()).toBe('ok')
      expect(await kubelet.end()).toBe(0)
    } finally {
      kubelet.process.kill('SIGKILL')
      await runtime.close()
      await api.close()
      await rm(root, { recursive: true, force: true })
    }
  })
