// Container ids in names of cgroups, and when the tree is walked.
import { describe, expect, test } from 'vitest'
import { containersOf, hexId, sandboxOf } from '../../../test/support/stats-fixture.js'
import { web } from '../../../test/support/stats-pods.js'
import { buildInventory } from '../runtime/inventory.js'
import { containerIdOf, createCgroupLocator } from './locator.js'

describe('cgroups of containers', () => {
  const id = hexId('c', 5)
  test.each([
    [id, id],
    [`cri-containerd-${id}.scope`, id],
    [`crio-${id}.scope`, id],
    [`kubepods-pod1.slice:cri-containerd:${id}`, id],
    [`crio-conmon-${id}.scope`, undefined],
    ['init.scope', undefined],
  ])('%s', (name, found) => expect(containerIdOf(name)).toBe(found))

  test('the tree is walked only for ids that are new', () => {
    const walks: string[] = []
    const cgroups = {
      exists: () => true,
      walk: (path: string) => {
        walks.push(path)
        return [path, `/kubepods/pod${web.uid}/${web.containers[0]?.id}`]
      },
    }
    const locator = createCgroupLocator({ cgroups, podRoots: ['/kubepods'] })
    const inventory = buildInventory([sandboxOf(web)], containersOf(web), 1n)
    const [pod] = inventory.pods
    locator.refresh(inventory)
    expect(walks).toEqual(['/kubepods', '/'])
    expect(locator.container(web.containers[0]?.id ?? '')).toBe(
      `/kubepods/pod${web.uid}/${web.containers[0]?.id}`,
    )
    expect(pod && locator.pod(pod).pod).toBe(`/kubepods/pod${web.uid}`)
    walks.length = 0
    locator.refresh(inventory)
    // What a walk of everything did not find is looked for in the usual place only.
    expect(walks).toEqual(['/kubepods'])
  })
})
