// What keeps a pod of the node from running, said so that a person can do something about it.
import type { PodJson } from '../core/pod/document.js'

/** What the node can offer for an image. */
export interface ImagePlace {
  /** Without one, an image is there or it is not. */
  readonly network: boolean
  /** Images that every node of `keelson up` has. */
  readonly images: readonly string[]
  /** Missing images were reported before the start, with the fix. */
  readonly reported: boolean
}

interface Trouble {
  readonly what: string
  readonly remedy: readonly string[]
}

type PodState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'running' }
  | ({ readonly kind: 'trouble' } & Trouble)

export interface PlannedImage {
  readonly image: string
  readonly imagePullPolicy: unknown
}

/** A container waits for these in the usual course of a start. */
const usual = ['ContainerCreating', 'PodInitializing']
const ofImages = ['ErrImagePull', 'ImagePullBackOff', 'ErrImageNeverPull', 'InvalidImageName']

export function judgePod(pod: PodJson, place: ImagePlace): PodState {
  const { phase, containerStatuses, initContainerStatuses = [] } = pod.status
  for (const { name, state } of [...initContainerStatuses, ...containerStatuses]) {
    const { reason, message = '' } = state.waiting ?? {}
    if (reason === undefined || usual.includes(reason)) continue
    if (ofImages.includes(reason)) return imageTrouble(pod, name, reason, message, place)
    return trouble(`container ${name}: ${reason}${message === '' ? '' : `: ${message}`}`)
  }
  if (phase === 'Failed') {
    const ended = containerStatuses.flatMap(({ name, state }) =>
      state.terminated === undefined ? [] : [`${name} exited with status ${state.terminated.exitCode}`],
    )
    return trouble(`failed${ended.length === 0 ? '' : `: ${ended.join(', ')}`}`)
  }
  return { kind: phase === 'Running' || phase === 'Succeeded' ? 'running' : 'starting' }
}

const trouble = (what: string, remedy: readonly string[] = []): PodState => ({
  kind: 'trouble',
  what,
  remedy,
})

interface ContainerJson {
  readonly name?: unknown
  readonly image?: unknown
  readonly imagePullPolicy?: unknown
}

function imageTrouble(
  { spec }: PodJson,
  container: string,
  reason: string,
  message: string,
  place: ImagePlace,
): PodState {
  const all = [spec['initContainers'], spec['containers']].flat() as readonly (ContainerJson | undefined)[]
  const found = all.find((c) => c?.name === container)
  const image = typeof found?.image === 'string' ? found.image : `of container ${container}`
  if (reason === 'InvalidImageName') return trouble(`image ${image}: not a valid image name`)
  if (reason === 'ErrImageNeverPull' && place.network)
    return trouble(
      `image ${image} is not available: imagePullPolicy is Never and it is not loaded`,
      howToLoad(image),
    )
  if (place.network)
    return trouble(`image ${image} is not available: ${message}`, [
      'the kubelet keeps retrying; check the name and the network, or load the image:',
      ...howToLoad(image),
    ])
  if (place.reported) return trouble(`image ${image} is not available; see above`)
  const { what, remedy } = missingInLab({ image, imagePullPolicy: found?.imagePullPolicy }, place)
  return trouble(what, remedy)
}

const howToLoad = (image: string): readonly string[] => [
  `on a machine that has the image: docker save ${image} -o image.tar`,
  'then here: keelson up --image-tar image.tar, with the same options',
]

/** An image that the lab cannot get. */
export const missingInLab = (
  { image, imagePullPolicy }: PlannedImage,
  { images }: Pick<ImagePlace, 'images'>,
): Trouble => ({
  what: `image ${image} is not available: the lab has no network to pull images; available: ${images.join(', ')} and the images of --image-tar`,
  remedy: [
    ...(imagePullPolicy === 'Always'
      ? [
          'imagePullPolicy is Always, the default for :latest and without a tag; it pulls even a loaded image; set IfNotPresent',
        ]
      : []),
    ...howToLoad(image),
  ],
})
