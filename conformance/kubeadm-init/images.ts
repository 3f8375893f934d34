// The images of a control plane, made of the built peers under the names that kubeadm asks for.

import { copyOf } from '../images/files.js'
import { writeLayout } from '../images/layout.js'
import type { TestImage } from '../images/test-image.js'
import { runCommand } from '../process.js'
import { type Component, components } from './plan.js'

interface ImageSources {
  readonly kubeadm: string
  readonly version: string
  /** Path of a component's program. */
  program(component: Component): string
}

/** `registry.k8s.io/etcd:3.7.0-0` to its repository and tag, for those that are components. */
export function parseImageList(list: string): ReadonlyMap<Component, string> {
  const found = new Map<Component, string>()
  for (const line of list.split('\n')) {
    const [, repository = '', tag = ''] = /^[^/]+\/(.+):([^:]+)$/.exec(line.trim()) ?? []
    const component = components.find((name) => name === repository)
    if (component !== undefined) found.set(component, tag)
  }
  return found
}

export async function writeControlPlaneImages(
  directory: string,
  { kubeadm, version, program }: ImageSources,
): Promise<void> {
  const args = ['config', 'images', 'list', '--kubernetes-version', version]
  const { stdout } = await runCommand(kubeadm, args, { timeoutMs: 60_000 })
  const tags = parseImageList(stdout)
  const images = components.map(async (component): Promise<TestImage> => {
    const tag = tags.get(component)
    if (tag === undefined) throw new Error(`kubeadm lists no image of ${component}:\n${stdout}`)
    const file = await copyOf(`usr/local/bin/${component}`, program(component), 0o755)
    return { repository: component, tags: [tag], layers: [[file]], command: [`/usr/local/bin/${component}`] }
  })
  await writeLayout(directory, await Promise.all(images))
}
