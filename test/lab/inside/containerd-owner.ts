// Started by host-containerd.lab.ts: owns a private containerd with one pod, until it is told to close or is killed.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createCriClient } from '../../../src/adapters/cri/client/client.js'
import { cacheDirectory } from '../../../src/lab/cache.js'
import { startPrivateContainerd } from '../../../src/lab/containerd/start-containerd.js'
import { ensureImages } from '../../../src/lab/images/images.js'
import { runPod } from './pod.js'

const base = process.env.KEELSON_TEST_DIR ?? ''
const dir = join(base, 'containerd')
mkdirSync(dir, { recursive: true })
process.env.LAB_OUT = dir
const images = await ensureImages(cacheDirectory(process.env), AbortSignal.timeout(60_000))
const containerd = await startPrivateContainerd({ dir, archives: [images] })
const client = createCriClient(containerd.endpoint, { timeoutMs: 60_000 })
await runPod(client, { name: 'owner', cgroupParent: '/kubepods/burstable/podowner' })
client.close()
process.on('message', () => {
  containerd.close().then(
    () => process.exit(0),
    () => process.exit(1),
  )
})
process.send?.({ dir, bridge: containerd.bridge })
