// Builds peers with the Go toolchain and keeps the binaries outside the repository, keyed by everything that
// decides their bytes, so that a second run builds nothing.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
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

/** Arguments of go build without the output path: they are part of the cache key. */
async function buildArguments(peer: Peer): Promise<string[]> {
  const version = await readPinnedVersion(peer)
  const flags = peer.linkerVariables.map((v) => `-X ${v.replace('VERSION', version)}`)
  return [
    ...(peer.isTest === true ? ['test', '-c'] : ['build']),
    '-mod=readonly',
    '-trimpath',
    '-buildvcs=false',
    '-ldflags',
    ['-s -w', ...flags].join(' '),
    peer.package,
  ]
}

async function cachePath(peer: Peer, goVersion: string, args: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([goVersion, args]))
  const sources = (await readdir(join(moduleRoot, peer.module)))
    .filter((f) => /\.(go|mod|sum)$/.test(f))
    .sort()
  for (const file of sources) hash.update(await readFile(join(moduleRoot, peer.module, file)))
  return join(cacheRoot(), `${peer.name}-${hash.digest('hex').slice(0, 16)}`, peer.command)
}

/** Path of the peer's binary; builds it first when the cache has none. Builds are niced: the machine is shared. */
export async function buildPeer(name: PeerName, log: (line: string) => void): Promise<string> {
  const peer = peerOf(name)
  const goVersion = await readGoVersion()
  const args = await buildArguments(peer)
  const target = await cachePath(peer, goVersion, args)
  if (existsSync(target)) return target
  log(`building ${name} ${await readPinnedVersion(peer)} with ${goVersion}; the first build takes minutes`)
  const started = Date.now()
  const partial = `${target}.${process.pid}.partial`
  await mkdir(join(target, '..'), { recursive: true })
  try {
    await goBuild(peer, [...args.slice(0, -1), '-o', partial, peer.package])
    await rename(partial, target)
  } finally {
    await rm(partial, { force: true })
  }
  log(`built ${name} in ${Math.round((Date.now() - started) / 1000)} s`)
  return target
}

async function goBuild(peer: Peer, args: readonly string[]): Promise<void> {
  // Static binaries run in every machine, whatever C library its root file system has.
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' }
  const child = spawn('nice', ['-n', '15', 'go', ...args], {
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
  if (code !== 0) throw new Error(`go build of ${peer.name} ended with ${code ?? 'a signal'}:\n${stderr}`)
}
