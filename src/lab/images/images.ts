// The lab's own images, made from Debian's static busybox and our two programs: no registry.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keelsonError } from '../../core/errors.js'
import { ensurePart } from '../cache.js'
import { findCommand } from '../packages.js'
import { mustRun } from '../process.js'
import { type ImageFile, type ImageSpec, writeImageArchive } from './archive.js'
import { hogProgram, pauseProgram, programSources } from './programs.js'

export const imageReferences = {
  pause: 'keelson.local/pause:1',
  busybox: 'keelson.local/busybox:1',
  hog: 'keelson.local/hog:1',
  cacheReader: 'keelson.local/cache-reader:1',
} as const

/** cache-reader FILE MIB [PAUSE_S]: writes FILE once, then reads it for ever, one line a pass. */
const cacheReader = `#!/bin/sh
trap 'exit 0' TERM INT
file=$1 mib=$2 pause=\${3:-1}
[ -n "$file" ] && [ -n "$mib" ] || { echo "usage: cache-reader FILE MIB [PAUSE_S]" >&2; exit 2; }
[ -s "$file" ] || dd if=/dev/zero of="$file" bs=1M count="$mib" 2> /dev/null || exit 1
while :; do
  begin=$(cut -d' ' -f1 /proc/uptime)
  cat "$file" > /dev/null || exit 1
  echo "read $mib MiB from $begin to $(cut -d' ' -f1 /proc/uptime)"
  sleep "$pause" & wait $!
done
`

function busyboxFiles(busybox: Buffer, applets: readonly string[]): ImageFile[] {
  return [
    ...['bin', 'etc', 'proc', 'sys', 'dev', 'root', 'data'].map((path) => ({ path, mode: 0o755 })),
    { path: 'tmp', mode: 0o1777 },
    { path: 'bin/busybox', data: busybox, mode: 0o755 },
    ...applets.map((applet) => ({ path: `bin/${applet}`, link: 'busybox' })),
    { path: 'bin/hog', data: hogProgram(), mode: 0o755 },
    { path: 'bin/cache-reader', data: Buffer.from(cacheReader), mode: 0o755 },
    {
      path: 'etc/passwd',
      data: Buffer.from('root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n'),
      mode: 0o644,
    },
    { path: 'etc/group', data: Buffer.from('root:x:0:\nnogroup:x:65534:\n'), mode: 0o644 },
  ]
}

function imageSpecs(busybox: Buffer, applets: readonly string[]): ImageSpec[] {
  const files = busyboxFiles(busybox, applets)
  return [
    {
      reference: imageReferences.pause,
      files: [{ path: 'pause', data: pauseProgram(), mode: 0o755 }],
      entrypoint: ['/pause'],
    },
    { reference: imageReferences.busybox, files, entrypoint: [], command: ['/bin/sh'] },
    { reference: imageReferences.hog, files, entrypoint: ['/bin/hog'], command: ['64'] },
    {
      reference: imageReferences.cacheReader,
      files,
      entrypoint: ['/bin/cache-reader'],
      command: ['/data/file', '64'],
    },
  ]
}

/** The archive with all of them, made when it is missing. */
export async function ensureImages(
  cacheDir: string,
  signal: AbortSignal,
  progress: (line: string) => void = () => {},
): Promise<string> {
  const path = findCommand('busybox')
  if (path === undefined)
    throw keelsonError('lab.missing', 'images need busybox-static; run: apt-get install busybox-static')
  const busybox = await readFile(path)
  const digest = createHash('sha256').update(busybox).update(cacheReader)
  for (const source of programSources) digest.update(source)
  const dir = await ensurePart(
    cacheDir,
    {
      name: 'images',
      recipe: { from: digest.digest('hex'), references: imageReferences, format: 2 },
      async build(target) {
        const list = (await mustRun([path, '--list'], { signal })).split('\n')
        const applets = list.filter((a) => a !== '' && a !== 'busybox')
        await writeImageArchive(join(target, 'images.tar'), imageSpecs(busybox, applets))
      },
    },
    signal,
    progress,
  )
  return join(dir, 'images.tar')
}
