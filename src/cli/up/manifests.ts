// The manifests of `keelson up --pods DIR`, read as the kubelet reads them, so that what it refuses is known before anything starts.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readBounded } from '../../adapters/files/read.js'
import { maxManifestBytes } from '../../config/read-manifest.js'
import { keelsonError, messageOf, rethrowBug } from '../../core/errors.js'
import { allContainerSpecs } from '../../core/pod/spec/spec.js'
import { type ManifestProblem, readPodSpecs } from '../../kubelet/pods/source/static-source.js'
import { imageReferences } from '../../lab/images/images.js'
import type { Manifest, PodName } from '../../up/node.js'
import { missingInLab, type PlannedImage } from '../../up/pod-state.js'
import type { Progress } from '../../up/progress.js'

interface ReadManifest extends Manifest {
  readonly images: readonly PlannedImage[]
}

/** In the order of their names, as the kubelet takes them. */
export async function readPodsDirectory(dir: string): Promise<readonly ReadManifest[]> {
  const names = await readdir(dir).catch((e: unknown) => {
    const why = messageOf(e)
    throw keelsonError('input.unreadable', `read --pods ${dir}: ${why}; name a directory`, { path: dir }, e)
  })
  const manifests: ReadManifest[] = []
  const takenBy = new Map<string, string>()
  for (const file of names.filter((n) => /^[^.].*\.(ya?ml|json)$/.test(n)).sort()) {
    const manifest = await readOne(dir, file)
    const pods: PodName[] = []
    const problems = [...manifest.problems]
    for (const pod of manifest.pods) {
      const key = `${pod.namespace}/${pod.name}`
      const holder = takenBy.get(key)
      if (holder === undefined) pods.push(pod)
      else problems.push(`${join(dir, file)}: pod ${key} is already defined in ${holder}`)
      takenBy.set(key, holder ?? file)
    }
    manifests.push({ ...manifest, pods, problems })
  }
  return manifests
}

async function readOne(dir: string, file: string): Promise<ReadManifest> {
  const path = join(dir, file)
  let text = ''
  try {
    const bytes = (await readBounded(path, maxManifestBytes)) ?? new Uint8Array()
    text = new TextDecoder().decode(bytes)
    const specs = readPodSpecs(path, bytes)
    return {
      file,
      text,
      pods: specs.map(({ pod: { namespace, name } }) => ({ namespace, name })),
      problems: [],
      images: specs
        .flatMap(allContainerSpecs)
        .map(({ image, pullPolicy }) => ({ image, imagePullPolicy: pullPolicy })),
    }
  } catch (e) {
    const { message, details } = rethrowBug(e)
    const { problems } = details as { readonly problems?: readonly ManifestProblem[] }
    return {
      file,
      text,
      pods: [],
      images: [],
      problems: problems?.map((p) => `${path}:${p.line}: ${p.text}`) ?? [message],
    }
  }
}

/** Printed before the node starts, so that a typo or an unavailable image is reported at once. */
export function reportManifests(
  dir: string,
  manifests: readonly ReadManifest[],
  missing: readonly PlannedImage[],
  progress: Progress,
): void {
  if (manifests.length === 0)
    progress.step('manifests', `${dir} has no *.yaml, *.yml or *.json; the node starts without pods`)
  for (const { file, problems } of manifests)
    if (problems.length > 0) {
      progress.step('refused', `${join(dir, file)}: see below; the other manifests are used`)
      progress.detail(problems.join('\n'))
    }
  for (const image of missing) {
    const { what, remedy } = missingInLab(image, { images: labImages })
    progress.step('image', what)
    progress.detail(remedy.join('\n'))
  }
}

/** The one of the sandboxes is of no use to a person. */
export const labImages: readonly string[] = Object.values(imageReferences).filter(
  (name) => name !== imageReferences.pause,
)

/** What the lab does not have, each once. */
export function missingImages(manifests: readonly ReadManifest[]): readonly PlannedImage[] {
  const all = new Map(manifests.flatMap((m) => m.images).map((one) => [one.image, one]))
  return [...all.values()].filter(({ image }) => !labImages.includes(image))
}
