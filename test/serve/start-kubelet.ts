// The real `keelson kubelet`, bundled as it is shipped, in place of the stand-in: settings become a configuration file.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runtimeConfig } from '../../src/fakes/cri/shapes.js'
import { startKubeletProcess } from '../kubelet/kubelet-process.js'
import { bundleCommand } from '../support/command.js'
import { type Start, temporaryDirectory } from './start.js'

const document = ({ settings }: Parameters<Start>[0]) => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  authentication: {
    anonymous: { enabled: settings.anonymous },
    webhook: { enabled: settings.tokenReview.enabled, cacheTTL: `${settings.tokenReview.cacheTtlMs}ms` },
    x509: { clientCAFile: settings.clientCAFile },
  },
  authorization: {
    mode: settings.authorization.mode,
    webhook: {
      cacheAuthorizedTTL: `${settings.authorization.allowTtlMs}ms`,
      cacheUnauthorizedTTL: `${settings.authorization.denyTtlMs}ms`,
    },
  },
})

export const startRealKubelet: Start = async (input) => {
  const files = temporaryDirectory()
  const bundle = await bundleCommand()
  const config = join(files.path, 'config.yaml')
  writeFileSync(config, JSON.stringify(document(input)))
  const kubelet = await startKubeletProcess(bundle.main, {
    scripts: { RuntimeConfig: runtimeConfig.cgroupfs },
    flags: [
      `--config=${config}`,
      ...(input.kubeconfig === undefined ? [] : [`--kubeconfig=${input.kubeconfig}`]),
      '--fail-cgroupv1=false',
      '--kubernetes-version=1.36',
      '--logging-format=json',
      '--v=4',
    ],
  })
  const stop = async (): Promise<void> => {
    await kubelet.remove()
    await bundle.remove()
    files.remove()
  }
  try {
    await kubelet.says('the kubelet is up')
  } catch (e) {
    await stop()
    throw e
  }
  const { healthPort, port } = kubelet
  const url = `https://127.0.0.1:${port}`
  return { url, port, healthPort, pid: kubelet.process.pid ?? 0, log: kubelet.output, stop }
}
