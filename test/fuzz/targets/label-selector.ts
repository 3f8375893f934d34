// Label selectors of the command line: refused by name or a predicate that answers for every set of labels.
import { parseLabelSelector } from '../../../src/core/kube/label-selector.js'
import { mutateText, type Random } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

const selectors = ['app=web,tier!=cache', 'env in (a,b),!old', 'app notin (x), y', '', 'a.b/c==d'] as const

export const labelSelector: FuzzTarget = {
  name: 'label-selector',
  generate: (random: Random) => mutateText(random.pick(selectors), random),
  run(input) {
    const matches = parseLabelSelector(input as string)
    for (const labels of [{}, { app: 'web' }, { env: 'a', y: '' }])
      check(typeof matches(labels) === 'boolean', 'a selector matches or not')
  },
}
