// The tarball and the .deb in a root directory made by debootstrap, without Node and without the repository. Each test has the
// directory fresh, under a layer in memory that is gone with it.
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cacheDirectory, ensurePart } from '../../src/lab/cache.js'
import { sysroot } from '../../src/lab/sysroot.js'
import { type BuiltForTest, packagesForTest } from '../support/packages.js'
import { missingRequirement, requires } from '../support/requirements.js'

const needs = { root: true, packages: ['uml-systemd'], commands: ['unshare', 'chroot'] } as const
const signal = AbortSignal.timeout(1_200_000)
const scratch = mkdtempSync(join(tmpdir(), 'keelson-root-'))
let built: BuiltForTest | undefined
let system = ''

beforeAll(async () => {
  if (missingRequirement(needs) !== undefined) return
  system = await ensurePart(cacheDirectory(process.env), sysroot, signal)
  built = await packagesForTest('tarball', 'deb')
}, 1_200_000)
afterAll(async () => {
  await built?.remove()
  rmSync(scratch, { recursive: true })
})

const setUp = `set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" "$1/root"
mkdir "$1/root/packages"
mount --bind "$3" "$1/root/packages"
mount -t proc proc "$1/root/proc"
cp "$4" "$1/root/steps"
cd /
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \\
  DEBIAN_FRONTEND=noninteractive chroot "$1/root" /bin/bash /steps
`

/** Runs the steps with bash in the fresh root; the first one that fails ends them. */
function inRoot(steps: string): SpawnSyncReturns<string> {
  const file = join(scratch, 'steps')
  const helpers = `set -eu
! command -v node
files() { find / -xdev \\( -path /proc -o -path /packages -o -path /var/lib/dpkg -o -path /var/log -o -path /tmp -o -path /steps \\) -prune -o -print | sort; }
# The doctor finds things to say about a root directory without a kubelet; it must not fail itself.
doctor() { local status=0; "$@" > /tmp/doctor || status=$?; case $status in 0 | 3 | 4) ;; *) echo "doctor: $status"; cat /tmp/doctor; exit 1 ;; esac; grep -c checks: /tmp/doctor; }
`
  writeFileSync(file, `${helpers}${steps}\necho ALL STEPS DONE\n`)
  const place = mkdtempSync(join(scratch, 'place-'))
  const argv = [
    '--mount',
    '--propagation',
    'private',
    '--pid',
    '--fork',
    '--kill-child',
    'sh',
    '-c',
    setUp,
    'sh',
  ]
  const packages = dirname(built?.files[0] ?? '')
  return spawnSync('unshare', [...argv, place, system, packages, file], {
    encoding: 'utf8',
    timeout: 500_000,
  })
}

function expectDone(run: SpawnSyncReturns<string>): void {
  expect(`${run.stdout}\n${run.stderr}`).toContain('ALL STEPS DONE')
  expect(run.status).toBe(0)
}

const explain =
  'explain -f "$home/examples/pods.yaml" --config "$home/examples/kubelet.yaml" --memory-capacity 8Gi'

test('PKG-01 tarball: runs in a root directory without Node, through a link, as root and as nobody', (ctx) => {
  requires(ctx, needs)
  const run = inRoot(`
tar -C /opt -xzf /packages/keelson-*-linux-x64.tar.gz
ln -sfn /opt/keelson-*-linux-x64 /opt/keelson
ln -s /opt/keelson/bin/keelson /usr/local/bin/keelson
home=/opt/keelson/lib/keelson
keelson --version
keelson ${explain} > /tmp/explained
grep -q memory.high /tmp/explained
doctor keelson doctor
chmod 755 /tmp && chmod 1777 /tmp
setpriv --reuid=65534 --regid=65534 --clear-groups keelson ${explain} > /dev/null
doctor setpriv --reuid=65534 --regid=65534 --clear-groups keelson doctor
test -s /opt/keelson/share/man/man1/keelson-doctor.1.gz
rm -r /opt/keelson* /usr/local/bin/keelson
`)
  expectDone(run)
})

test('PKG-02 deb: installs without Node and network, runs, and purge leaves no file', (ctx) => {
  requires(ctx, needs)
  const run = inRoot(`
files > /tmp/before
dpkg -i /packages/keelson_*_amd64.deb
home=/usr/share/doc/keelson
keelson --version
keelson ${explain} > /tmp/explained
grep -q memory.high /tmp/explained
doctor keelson doctor
dpkg --verify keelson
test -s /usr/share/man/man1/keelson-cri-install.1.gz
source /usr/share/bash-completion/completions/keelson
complete -p keelson
echo '# mine' >> /etc/keelson/config.yaml
dpkg -i /packages/keelson_*_amd64.deb
grep -q '# mine' /etc/keelson/config.yaml
dpkg --remove keelson
grep -q '# mine' /etc/keelson/config.yaml
dpkg --purge keelson
files > /tmp/after
diff /tmp/before /tmp/after
`)
  expectDone(run)
})

test('PKG-03 deb: a removal that would cut the kubelet off from its runtime is refused', (ctx) => {
  requires(ctx, needs)
  const run = inRoot(`
dpkg -i /packages/keelson_*_amd64.deb
mkdir -p /var/lib/kubelet
echo 'containerRuntimeEndpoint: unix:///run/keelson/cri.sock' > /var/lib/kubelet/config.yaml
if dpkg --purge keelson 2> /tmp/refused; then exit 1; fi
grep 'use-socket' /tmp/refused
keelson --version
rm /var/lib/kubelet/config.yaml
dpkg --purge keelson
`)
  expectDone(run)
})
