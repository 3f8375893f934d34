// Installs the Debian packages that the tests and the lab use, when this is root on Debian; otherwise names them.
// The list is src/lab/debian-packages.json, the same one that `keelson lab` reads.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const list = join(dirname(fileURLToPath(import.meta.url)), '../src/lab/debian-packages.json')

const isInstalled = (name) => {
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f', '$\x7bdb:Status-Status}', name], {
    encoding: 'utf8',
  })
  return stdout === 'installed'
}

export function ensureDebianPackages() {
  const wanted = Object.keys(JSON.parse(readFileSync(list, 'utf8')))
  if (!existsSync('/usr/bin/dpkg-query')) {
    console.log('tests that need Debian packages are skipped: this is not Debian')
    return
  }
  const missing = wanted.filter((name) => !isInstalled(name))
  if (missing.length === 0) return
  const command = `apt-get install -y --no-install-recommends ${missing.join(' ')}`
  if (process.getuid?.() !== 0) {
    console.log(`tests that need these packages are skipped; as root: ${command}`)
    return
  }
  console.log(`installing ${missing.length} Debian packages: ${missing.join(' ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  // A mirror that fails once is asked again; a fresh machine may still be at its own updates, which are waited for.
  const patient = ['-o', 'Acquire::Retries=5', '-o', 'DPkg::Lock::Timeout=600']
  const apt = (...args) =>
    spawnSync('apt-get', ['-qq', ...patient, ...args], { stdio: ['ignore', 'ignore', 'inherit'], env }).status
  // Lists that could not be fetched whole may still have what is needed.
  apt('update')
  if (apt('install', '-y', '--no-install-recommends', ...missing) !== 0)
    console.error(
      `installing failed; tests that need them will say so. By hand: apt-get update && ${command}`,
    )
}
