// The shipped command as an ordinary user, on a node whose files only root may read: looking never fails. It runs in a
// mount namespace of its own, with a /var/lib and a /run made for it.
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Bundle, bundleCommand } from '../support/command.js'
import { requires } from '../support/requirements.js'

let bundle: Bundle | undefined
beforeAll(async () => {
  bundle = await bundleCommand()
})
afterAll(() => bundle?.remove())

const arrange = `
set -e
mount -t tmpfs tmpfs /var/lib
mount -t tmpfs tmpfs /run
mkdir -m 700 /var/lib/keelson /var/lib/kubelet
mkdir -p /run/containerd /var/run/containerd
echo '{"version":1,"entries":[]}' > /var/lib/keelson/use-socket-undo.json
printf 'apiVersion: kubelet.config.k8s.io/v1beta1\\nkind: KubeletConfiguration\\ncontainerRuntimeEndpoint: unix:///run/crio/crio.sock\\n' > /var/lib/kubelet/config.yaml
"$1" -e 'const p="/run/containerd/containerd.sock";const s=require("net").createServer((c)=>c.destroy());s.listen(p,()=>require("fs").chmodSync(p,0o600))' &
server=$!
trap 'kill $server' EXIT
until [ -S /run/containerd/containerd.sock ]; do sleep 0.05; done
set +e
`

function asNobody(...args: string[]): { status: number | null; output: string } {
  const script = `${arrange} setpriv --reuid=65534 --regid=65534 --clear-groups "$@"`
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['--mount', 'bash', '-c', script, 'sh', process.execPath, bundle?.main ?? '', ...args],
    { encoding: 'utf8', timeout: 60_000, env: { PATH: process.env.PATH } },
  )
  return { status, output: stdout + stderr }
}

const denied = /config\.yaml: permission denied/

test.for([
  ['node status', /config\.yaml +- \(read \S+: permission denied; run the command as root\)/],
  ['node init --dry-run', /preflight skipped: runtime-answers: this user may not open/],
  ['node upgrade node --dry-run', denied],
  ['node reset --dry-run', denied],
  ['cri install --dry-run', /this user may not open it/],
  ['cri uninstall --dry-run', /cannot tell whether the CRI server is installed/],
  ['node use-socket unix:///run/x.sock --dry-run', denied],
  ['node use-socket --undo --dry-run', /use-socket-undo\.json: permission denied/],
] as const)(
  '`%s` does not fail for an ordinary user and says what it could not read',
  ([command, says], ctx) => {
    requires(ctx, { root: true, commands: ['unshare', 'setpriv', 'bash'] })
    const { status, output } = asNobody(...command.split(' '))
    expect(output).toMatch(says)
    expect(output).not.toMatch(/\[\w+\.[\w-]+\]$/m)
    expect(status, output).toBe(0)
  },
)

test('`doctor` shows what it could not ask as skipped, and ends with the status of its findings', (ctx) => {
  requires(ctx, { root: true, commands: ['unshare', 'setpriv', 'bash'] })
  const { status, output } = asNobody(
    'doctor',
    '--checks',
    'runtime-answers,sockets,config,stale-endpoint-flag',
  )
  expect(output).not.toContain('input.unreadable')
  expect([0, 3, 4], output).toContain(status)
  expect(output).toMatch(/4 checks: /)
})

test('a command that changes something still says that root is needed', (ctx) => {
  requires(ctx, { root: true, commands: ['unshare', 'setpriv', 'bash'] })
  const { status, output } = asNobody('node', 'upgrade', 'node')
  expect(status).not.toBe(0)
  expect(output).toMatch(/permission denied; run the command as root/)
})
