// Programs of Debian that the images need and a host rarely has: downloaded and unpacked, never installed.
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { CachedPart } from '../../src/lab/cache.js'
import { patientApt } from '../../src/lab/packages.js'
import { mustRun } from '../../src/lab/process.js'

const packages = [
  'bind9-dnsutils',
  'bind9-host',
  'bind9-libs',
  'iperf',
  'libbsd0',
  'libfstrm0',
  'libjemalloc2',
  'libjson-c5',
  'liblmdb0',
  'libmaxminddb0',
  'libmd0',
  'libnghttp2-14',
  'libprotobuf-c1',
  'libuv1',
  'libwrap0',
  'netcat-openbsd',
  'nginx',
  'nginx-common',
  'nginx-light',
  'socat',
]

export const debianFiles: CachedPart = {
  name: 'suite-debian-files',
  recipe: { packages, format: 1 },
  async build(dir, signal) {
    const debs = join(dir, 'debs')
    await mkdir(debs)
    const download = ['apt-get', ...patientApt, 'download', '-o', 'APT::Sandbox::User=root', ...packages]
    await mustRun(download, { signal, cwd: debs })
    for (const deb of await readdir(debs))
      await mustRun(['dpkg-deb', '-x', join(debs, deb), join(dir, 'root')], { signal })
    await rm(debs, { recursive: true })
  },
}
