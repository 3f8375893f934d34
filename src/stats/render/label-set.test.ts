// Label blocks and their cache.
import { expect, test } from 'vitest'
import { extraLabels } from '../catalogue/family.js'
import { createLabelSet, createLabelSets } from './label-set.js'

test('labels: alphabetical, escaped, made once', () => {
  const labels = createLabelSet('container', {
    container: 'a"b',
    id: '/x\\y',
    image: 'new\nline',
    name: 'n',
    namespace: 'ns',
    pod: 'p',
  })
  expect(labels.block(extraLabels({ cpu: 'total', zone: '1' }))).toBe(
    '{container="a\\"b",cpu="total",id="/x\\\\y",image="new\\nline",name="n",namespace="ns",pod="p",zone="1"}',
  )
  const labelSets = createLabelSets()
  const get = () => labelSets.get('pod', 'k', () => labels.values)
  const first = get()
  labelSets.sweep()
  expect(get()).toBe(first)
  labelSets.sweep()
  labelSets.sweep()
  expect(get()).not.toBe(first)
})
