// The scenario inside a machine. $LAB_OUT holds the peers, the lab's images and the bundle of the command.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { prepareGround } from './ground.js'
import { scenario } from './scenario.js'

const out = process.env.LAB_OUT ?? '/run'
const dir = '/run/critest'
const focus = process.env.CRITEST_FOCUS
// In a slow kernel containerd 1.6 now and then takes an exit before the kill of memory that caused it, and says Error.
const attempts = 2

export const checks = scenario({
  critest: focus === 'none' ? undefined : { binary: join(out, 'bin/critest'), focus, attempts },
  crictl: join(out, 'bin/crictl'),
  out,
  allMetrics: process.env.LAB_BED === 'qemu',
  tmp: '/run/tmp', // the machine's root is an overlay, on which none can lie
  critestTimeoutMs: Number(process.env.CRITEST_TIMEOUT_MS ?? 1_200_000),
  async prepare() {
    mkdirSync(dir, { recursive: true })
    const ground = await prepareGround({
      main: join(out, 'keelson/main.mjs'),
      programs: join(out, 'bin'),
      dir,
      containerd: {
        dir: '/run/keelson-containerd',
        root: '/run/keelson-containerd/root', // overlayfs cannot lie on the machine's own overlay; /run is memory
        socket: '/run/containerd/containerd.sock',
        bridge: 'lab0',
        subnet: '10.88.0.0/16',
        archives: [join(out, 'images.tar')],
        log: join(out, 'containerd.log'),
        guard: false,
        startTimeoutMs: 240_000,
      },
    })
    // The machine is thrown away whole.
    return { ...ground, close: async () => void (await ground.server.end('SIGKILL')) }
  },
})
