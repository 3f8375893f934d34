// The node environment of the suites on this host, with Debian's containerd: private, side by side, and gone without a
// trace, also when the run is killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseHierarchies } from '../../conformance/node-environment/plan.js'
import { parseSystemdRun } from '../../conformance/node-environment/systemd-stand-ins.js'
import { requires } from '../support/requirements.js'
import { startTinyEnvironment } from '../support/tiny-environment.js'

const TIMEOUT_MS = 120_000
const needs = { root: true, packages: ['containerd'], commands: ['unshare', 'setpriv', 'tar'] } as const

const cgroupsOf = (name: string): string[] =>
  ['', ...readdirSync('/sys/fs/cgroup')]
    .map((hierarchy) => join('/sys/fs/cgroup', hierarchy, name))
    .filter((path) => existsSync(path))

const settings = (): string[] =>
  ['vm/overcommit_memory', 'kernel/panic', 'kernel/panic_on_oops'].map((f) =>
    readFileSync(join('/proc/sys', f), 'utf8'),
  )

/** Processes whose command line has the text. */
const processesWith = (text: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
    } catch {
      return false // it ended while we looked
    }
  })

/** What a kubelet would do to its host: settings, files, addresses, cgroups. */
const disturb = `
echo 10 > /proc/sys/kernel/panic || exit 1
touch /etc/left /var/lib/left /tmp/left || exit 2
touch /usr/left 2> /dev/null && exit 3
mkdir /sys/fs/cgroup/cpu/kubepods 2> /dev/null || mkdir /sys/fs/cgroup/kubepods || exit 4
ip address show dev node0 | grep -q 10.77.0.1 || exit 5
ctr --namespace k8s.io images list --quiet | grep -q registry.k8s.io/pause:3.10.2 || exit 6
exec sleep "$1"
`

describe('a node environment', () => {
  test('two run side by side, and nothing of them reaches the host or stays', {
    timeout: TIMEOUT_MS,
  }, async (ctx) => {
    requires(ctx, needs)
    const before = settings()
    let output = ''
    const start = () =>
      startTinyEnvironment(['sh', '-c', disturb, 'sh', '3'], (text) => {
        output += text
      })
    const both = await Promise.all([start(), start()])
    const [one, other] = both.map((e) => e.name)
    expect(one).not.toBe(other)
    for (const { name } of both) expect(cgroupsOf(name).length).toBeGreaterThan(0)
    expect(await Promise.all(both.map((e) => e.ended)), output).toEqual([0, 0])
    expect(Object.keys(networkInterfaces())).not.toContain('node0')
    await Promise.all(both.map((e) => e.close()))
    expect(settings()).toEqual(before)
    for (const path of ['/etc/left', '/var/lib/left', '/tmp/left', '/usr/left'])
      expect(existsSync(path), path).toBe(false)
    for (const { name, directory } of both) {
      expect(cgroupsOf(name)).toEqual([])
      expect(existsSync(directory)).toBe(false)
      expect(processesWith(directory)).toEqual([])
    }
  })

  test('a run that is killed leaves no process, mount, cgroup or file behind', {
    timeout: TIMEOUT_MS,
  }, async (ctx) => {
    requires(ctx, needs)
    const script = join(import.meta.dirname, '../support/tiny-environment.ts')
    const argv = ['--import', 'tsx', script, 'sh', '-c', disturb, 'sh', '1000']
    const run = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
    const said = await saying(run, /node ready/)
    const [, name = '', directory = ''] = /^(keelson-node-\S+) (\S+)$/m.exec(said) ?? []
    await expect.poll(() => processesWith('sleep\x001000').length, { timeout: 10_000 }).toBeGreaterThan(0)
    expect(cgroupsOf(name).length).toBeGreaterThan(0)
    run.kill('SIGKILL')
    await expect.poll(() => cgroupsOf(name), { timeout: 30_000 }).toEqual([])
    await expect.poll(() => existsSync(directory), { timeout: 30_000 }).toBe(false)
    await expect.poll(() => processesWith(directory), { timeout: 10_000 }).toEqual([])
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(directory)
    expect(existsSync('/etc/left')).toBe(false)
  })
})

async function saying(child: ChildProcess, wanted: RegExp): Promise<string> {
  let text = ''
  return await new Promise((resolve, reject) => {
    child.stdout?.on('data', (data: Buffer) => {
      text += data.toString()
      if (wanted.test(text) && /^keelson-node-/m.test(text)) resolve(text)
    })
    child.once('exit', (code) => reject(new Error(`ended with ${code}:\n${text}`)))
  })
}

test('hierarchies of a host: controllers, named ones, v2 beside v1, v2 alone', () => {
  const v1 = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
42 31 0:39 / /sys/kernel/other rw,relatime - cgroup cgroup rw,pids`
  expect(parseHierarchies(v1)).toEqual([
    { name: 'cpu,cpuacct', type: 'cgroup', options: ['cpu', 'cpuacct'] },
    { name: 'systemd', type: 'cgroup', options: ['none', 'name=systemd'] },
    { name: 'unified', type: 'cgroup2', options: [] },
  ])
  expect(parseHierarchies('31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup rw,nsdelegate')).toEqual([
    { name: '', type: 'cgroup2', options: [] },
  ])
})

test('a transient unit as the suite asks systemd-run for one', () => {
  const args = [
    '-p',
    'Delegate=true',
    '-p',
    'StandardError=append:/out/kubelet.log',
    '--unit=kubelet-1.service',
  ]
  expect(parseSystemdRun([...args, '--slice=runtime.slice', '/bin/kubelet', '--v', '4'])).toEqual({
    unit: 'kubelet-1',
    log: '/out/kubelet.log',
    argv: ['/bin/kubelet', '--v', '4'],
  })
})
