// Builds peers with the Go toolchain and keeps the binaries outside the repository, keyed by everything that
// decides their bytes, so that a second run builds nothing.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { waitForLock } from '../../src/lab/cache.js'
import { runCommand } from '../process.js'
import { moduleRoot, type Peer, type PeerName, peerOf } from './catalogue.js'

const BUILD_TIMEOUT_MS = 45 * 60_000

export class GoMissing extends Error {}

export function cacheRoot(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.KEELSON_CACHE ?? join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'keelson')
  return join(base, 'conformance')
}

export async function readGoVersion(): Promise<string> {
  try {
    const { stdout } = await runCommand('go', ['env', 'GOVERSION', 'GOOS', 'GOARCH'], { timeoutMs: 30_000 })
    return stdout.trim().split('\n').join('-')
  } catch (cause) {
    throw new GoMissing('the Go toolchain is not on PATH; install Go 1.26 or newer to build the peers', {
      cause,
    })
  }
}

export async function readPinnedVersion(peer: Peer): Promise<string> {
  const goMod = await readFile(join(moduleRoot, peer.module, 'go.mod'), 'utf8')
  const line = goMod.split('\n').find((l) =>
    l
      .replace(/^require /, '')
      .trim()
      .startsWith(`${peer.versionOf} v`),
  )
  const version = line?.match(/ (v\S+)/)?.[1]
  if (version === undefined) throw new Error(`${peer.module}/go.mod pins no version of ${peer.versionOf}`)
  return version
}

/** The command that builds the peer, without the output path: it is part of the cache key. */
async function buildCommand(peer: Peer): Promise<readonly string[]> {
  if (peer.build === 'C') return ['gcc', '-std=c99', '-Os', '-static', '-s']
  const version = await readPinnedVersion(peer)
  const flags = peer.linkerVariables.map((v) => `-X ${v.replace('VERSION', version)}`)
  return [
    'go',
    // Without -vet=off go vets the whole dependency tree of a test binary after it has compiled it.
    ...(peer.build === 'go test' ? ['test', '-c', '-vet=off'] : ['build']),
    '-mod=readonly',
    '-trimpath',
    '-buildvcs=false',
    ...(peer.tags === undefined ? [] : ['-tags', peer.tags.join(',')]),
    '-ldflags',
    ['-s -w', ...flags].join(' '),
  ]
}

async function cachePath(peer: Peer, goVersion: string, command: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([goVersion, command, peer.package]))
  const sources = (await readdir(join(moduleRoot, peer.module)))
    .filter((f) => /\.(go|mod|sum)$/.test(f))
    .sort()
  for (const file of sources) hash.update(await readFile(join(moduleRoot, peer.module, file)))
  return join(cacheRoot(), `${peer.name}-${hash.digest('hex').slice(0, 16)}`, peer.command)
}

async function planBuild(peer: Peer) {
  const goVersion = await readGoVersion()
  const command = await buildCommand(peer)
  return { goVersion, command, target: await cachePath(peer, goVersion, command) }
}

/** Path of the peer's binary; builds it first when the cache has none. Builds are niced: the machine is shared. */
export async function buildPeer(name: PeerName, log: (line: string) => void): Promise<string> {
  const peer = peerOf(name)
  const { goVersion, command, target } = await planBuild(peer)
  if (existsSync(target)) return target
  await requireLibraries(peer)
  await mkdir(join(target, '..'), { recursive: true })
  // Two runs that want the same peer: one builds, the other waits.
  const lock = await waitForLock(`${target}.lock`, AbortSignal.timeout(BUILD_TIMEOUT_MS))
  try {
    if (!existsSync(target)) await build(peer, goVersion, command, target, log)
  } finally {
    await lock.release()
  }
  return target
}

async function build(
  peer: Peer,
  goVersion: string,
  command: readonly string[],
  target: string,
  log: (line: string) => void,
): Promise<void> {
  const { name } = peer
  log(`building ${name} ${await readPinnedVersion(peer)} with ${goVersion}; the first build takes minutes`)
  const started = Date.now()
  const partial = `${target}.${process.pid}.partial`
  try {
    await runBuild(peer, [...command, '-o', partial, ...(await sourcesOf(peer))])
    await rename(partial, target)
  } finally {
    await rm(partial, { force: true })
  }
  log(`built ${name} in ${Math.round((Date.now() - started) / 1000)} s`)
}

/** Directory of the module's sources in Go's module cache, downloaded when it is not there. */
export async function moduleDirectory(module: string, path: string): Promise<string> {
  const cwd = join(moduleRoot, module)
  const env = { ...process.env, GOWORK: 'off', GOFLAGS: '' }
  await runCommand('go', ['mod', 'download', path], { cwd, env, timeoutMs: BUILD_TIMEOUT_MS })
  const list = ['list', '-m', '-f', '{{.Dir}}', path]
  return (await runCommand('go', list, { cwd, env, timeoutMs: 60_000 })).stdout.trim()
}

async function sourcesOf(peer: Peer): Promise<string[]> {
  if (peer.build !== 'C') return [peer.package]
  const folder = join(await moduleDirectory(peer.module, peer.versionOf), peer.package)
  const files = (await readdir(folder)).filter((f) => f.endsWith('.c')).sort()
  return files.map((f) => join(folder, f))
}

async function requireLibraries(peer: Peer): Promise<void> {
  const missing: string[] = []
  for (const { pkgConfig, debianPackage } of peer.libraries ?? []) {
    const asked = runCommand('pkg-config', ['--exists', pkgConfig], { timeoutMs: 30_000 })
    await asked.catch(() => missing.push(debianPackage))
  }
  if (missing.length > 0)
    throw new Error(
      `${peer.name} needs ${missing.join(' and ')}; as root run: apt-get install -y pkg-config gcc libc6-dev ${missing.join(' ')}`,
    )
}

/** Before the first of them is built: a missing library is not found out after minutes. */
export async function requireLibrariesOf(names: Iterable<PeerName>): Promise<void> {
  for (const peer of [...names].map(peerOf))
    if (peer.libraries !== undefined && !existsSync((await planBuild(peer)).target))
      await requireLibraries(peer)
}

async function runBuild(peer: Peer, command: readonly string[]): Promise<void> {
  // Static binaries run in every lab machine, whatever C library its root file system has.
  const cgo = peer.build === 'go with C' ? '1' : '0'
  const env = { ...process.env, CGO_ENABLED: cgo, GOWORK: 'off', GOFLAGS: '', GOTOOLCHAIN: 'local' }
  const child = spawn('nice', ['-n', '15', ...command], {
    cwd: join(moduleRoot, peer.module),
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: BUILD_TIMEOUT_MS,
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr = (stderr + chunk).slice(-8_000)
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  if (code !== 0) throw new Error(explainBuildFailure(peer.name, code, stderr))
}

/** Go's words about the network are easy to miss among hundreds of lines of compiler output. */
export function explainBuildFailure(name: string, code: number | null, stderr: string): string {
  const unreachable = stderr
    .split('\n')
    .find((l) => /dial tcp|no such host|i\/o timeout|(403|404|410) |connection refused/.test(l))
  const hint =
    unreachable === undefined
      ? ''
      : `a module cannot be downloaded; check the network and GOPROXY (${unreachable.trim().slice(0, 300)})\n`
  return `building ${name} ended with ${code ?? 'a signal'}: ${hint}\n${stderr}`
}
