// How series are compared with cAdvisor's, without building it: what is the same, what differs, and what is explained.
import { expect, test } from 'vitest'
import { compareWithCadvisor } from '../../conformance/cadvisor/compare.js'
import { explain } from '../../conformance/cadvisor/known-differences.js'

const types = ['# TYPE container_a_total counter', '# TYPE container_spec_b gauge'].join('\n')
const row = (name: string, container: string, image: string, value: number, more = ''): string =>
  `${name}{container="${container}",id="/kubepods/podweb/${container || 'sandbox'}",image="${image}"${more},name="n",namespace="default",pod="web"} ${value}`
const text = (...rows: readonly string[]): string => `${types}\n${rows.join('\n')}\n`

const compare = (before: string, ours: string, after = before) =>
  compareWithCadvisor({ before, ours, after }, ['web'])

test('a counter between both readings agrees, one outside does not', () => {
  const of = (value: number) => text(row('container_a_total', 'app', 'i', value))
  expect(compare(of(100), of(150), of(200))).toMatchObject({ families: 1, series: 1, differences: [] })
  expect(compare(of(100), of(90), of(200)).differences).toMatchObject([{ kind: 'value', ours: 90 }])
})

test('limits must be equal', () => {
  const of = (value: number) => text(row('container_spec_b', 'app', 'i', value))
  expect(compare(of(100), of(101)).differences).toHaveLength(1)
})

test('series that only one side has; the sandbox is explained, another container is not', () => {
  const ours = text(row('container_a_total', 'app', 'i', 1))
  const { differences } = compare(
    text(
      row('container_a_total', 'app', 'i', 1),
      row('container_a_total', '', 'pause', 1),
      row('container_a_total', 'other', 'i', 1),
    ),
    ours,
  )
  expect(differences.map((d) => [d.kind, explain(d)])).toEqual([
    ['cadvisor-only', 'sandbox-rows'],
    ['cadvisor-only', undefined],
  ])
})

test('networks are matched by pod and interface, whichever row they stand on', () => {
  const name = 'container_network_receive_bytes_total'
  const extra = ',interface="eth0"'
  expect(compare(text(row(name, '', 'pause', 5, extra)), text(row(name, '', '', 5, extra)))).toMatchObject({
    series: 1,
    differences: [],
  })
})

test('families that only one side has are listed, other pods are left out', () => {
  const other = row('container_a_total', 'app', 'i', 1).replaceAll('web', 'other')
  expect(compare(text(other), text(row('container_spec_b', 'app', 'i', 1)))).toMatchObject({
    families: 0,
    oursOnlyFamilies: ['container_spec_b'],
    cadvisorOnlyFamilies: [],
  })
})
