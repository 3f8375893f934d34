// The suites' images as one cached part: a layout for the registry, and the same as a tar for the runtime's import.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ensurePart } from '../../src/lab/cache.js'
import { findCommand } from '../../src/lab/packages.js'
import { mustRun } from '../../src/lab/process.js'
import { cacheRoot, moduleDirectory } from '../peers/build.js'
import { busybox } from './busybox.js'
import { debianFiles } from './debian-files.js'
import { writeLayout } from './layout.js'
import { suiteImages } from './suite-images.js'

/** Of all of them from nothing. */
const BUILD_MS = 20 * 60_000

export interface SuiteImages {
  /** Directory of the OCI image layout. */
  readonly layout: string
  readonly archive: string
}

const needed = ['apt-get', 'bzip2', 'curl', 'gcc', 'make', 'perl', 'ldd', 'ipcmk', 'hostname', '/usr/sbin/ip']

/** In words what the images cannot be made without; undefined when all is there. */
export function missingForImages(find = findCommand): string | undefined {
  const missing = needed.filter((c) => find(c) === undefined).map((c) => basename(c))
  return missing.length === 0 ? undefined : `the suites' images are made with ${missing.join(', ')}`
}

/** Their code decides the images' content: a change of it is another part. */
const recipeFiles = ['files.ts', 'suite-images.ts', 'test-image.ts', 'layout.ts']

export async function ensureSuiteImages(
  peers: { readonly agnhost: string; readonly sampleDevicePlugin: string },
  progress: (line: string) => void,
): Promise<SuiteImages> {
  const cache = cacheRoot()
  const signal = AbortSignal.timeout(BUILD_MS)
  const debian = await ensurePart(cache, debianFiles, signal, progress)
  const busyboxDir = await ensurePart(cache, busybox, signal, progress)
  const code = createHash('sha256')
  for (const file of recipeFiles) code.update(await readFile(join(import.meta.dirname, file)))
  const sources = [debian, busyboxDir, dirname(peers.agnhost), dirname(peers.sampleDevicePlugin)]
  const dir = await ensurePart(
    cache,
    {
      name: 'suite-images',
      recipe: { code: code.digest('hex'), from: sources.map((s) => basename(s)), format: 1 },
      async build(target) {
        const path = join(busyboxDir, 'busybox')
        const list = (await mustRun([path, '--list'], { signal })).split('\n')
        const kubernetes = await moduleDirectory('kubernetes-1.37', 'k8s.io/kubernetes')
        const images = await suiteImages({
          busybox: path,
          applets: list.filter((a) => a !== ''),
          debian: join(debian, 'root'),
          agnhost: peers.agnhost,
          sampleDevicePlugin: peers.sampleDevicePlugin,
          kubernetesImages: join(kubernetes, 'test/images'),
        })
        const layout = join(target, 'layout')
        await writeLayout(layout, images)
        const members = ['oci-layout', 'index.json', 'blobs']
        await mustRun(['tar', '-C', layout, '-cf', join(target, 'images.tar'), ...members], { signal })
      },
    },
    signal,
    progress,
  )
  return { layout: join(dir, 'layout'), archive: join(dir, 'images.tar') }
}
