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
      forget: () => {},
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

  test('descriptors of a pod that has gone are not kept open', () => {
    const forgotten: string[] = []
    const [container, other] = web.containers.map((c) => `/kubepods/pod${web.uid}/${c.id}`)
    const sandbox = `/kubepods/pod${web.uid}/${web.sandboxId}`
    const cgroups = {
      exists: () => true,
      walk: () => [sandbox, container ?? '', other ?? ''],
      forget: (path: string) => forgotten.push(path),
    }
    const locator = createCgroupLocator({ cgroups, podRoots: ['/kubepods'] })
    locator.refresh(buildInventory([sandboxOf(web)], containersOf(web), 1n))
    locator.refresh(buildInventory([sandboxOf(web)], containersOf(web).slice(1), 2n))
    expect(forgotten).toEqual([container])
    locator.refresh(buildInventory([], [], 3n))
    expect(forgotten).toContain(sandbox)
    expect(forgotten).toContain(`/kubepods/pod${web.uid}`)
  })
})
