// `keelson explain` as a person runs it: goldens in three formats, the KEP's own tables, and bad input.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { expectGolden } from '../support/golden.js'
import { runCommand } from '../support/memory-io.js'

const fixtures = resolve(import.meta.dirname, '../fixtures/explain')
const scratch = mkdtempSync(join(tmpdir(), 'keelson-explain-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const scratchFile = (name: string, content: string | Uint8Array): string => {
  const path = join(scratch, name)
  writeFileSync(path, content)
  return path
}

describe('goldens', () => {
  for (const format of ['table', 'json', 'yaml'])
    test(format, async () => {
      const ran = await runCommand(
        [
          'explain',
          '-f',
          '-',
          '--config',
          join(fixtures, 'kubelet.yaml'),
          '--memory-capacity',
          '16Gi',
          '-o',
          format,
        ],
        await import('node:fs').then((fs) => fs.readFileSync(join(fixtures, 'workloads.yaml'))),
      )
      expect(ran.stderr).toBe('')
      expect(ran.status).toBe(0)
      expectGolden(`explain/workloads.${format === 'table' ? 'txt' : format}`, ran.stdout)
    })
})

interface Report {
  pods: { containers: { title: string; files: Record<string, { value: string | null; reason: string }> }[] }[]
}

/** One container per request, all below a limit of 1000Mi, on a node with pages of 1Mi, as in the KEP. */
async function kepTable(version: string, factor: number, requests: readonly number[]) {
  const containers = requests.map((mi) => ({
    name: `request-${mi}`,
    resources: { requests: { memory: `${mi}Mi` }, limits: { memory: '1000Mi' } },
  }))
  const config = scratchFile(
    `kep-${version}-${factor}.yaml`,
    `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nfeatureGates: {MemoryQoS: true}\nmemoryThrottlingFactor: ${factor}\n`,
  )
  const argv = [
    'explain',
    '-f',
    '-',
    '--config',
    config,
    '--kubernetes-version',
    version,
    '--page-size',
    '1048576',
  ]
  const pod = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'kep' },
    spec: { containers },
  })
  const ran = await runCommand([...argv, '-o', 'json'], pod)
  expect(ran.stderr).toBe('')
  const report = JSON.parse(ran.stdout) as Report
  return requests.map((_, n) => {
    const high = report.pods[0]?.containers[n]?.files['memory.high']
    return high?.value == null ? `not written: ${high?.reason}` : `${BigInt(high.value) / 1048576n}Mi`
  })
}

const equal = 'not written: the memory request equals the limit (1048576000)'
const notAbove = (mi: number) => `not written: the result is not above the memory request ${mi * 1048576}`

describe("the KEP's own tables", () => {
  test('limit 1000, factor 0.9: 900 to 990, and no throttling where request = limit', async () => {
    const requests = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]
    expect(await kepTable('1.27', 0.9, requests)).toEqual([
      ...['900Mi', '910Mi', '920Mi', '930Mi', '940Mi', '950Mi', '960Mi', '970Mi', '980Mi', '990Mi'],
      equal,
    ])
  })

  for (const { factor, requests, v122, v127 } of [
    {
      factor: 0.6,
      requests: [500, 800, 1000],
      v122: ['600Mi', notAbove(800), equal],
      v127: ['800Mi', '920Mi', equal],
    },
    {
      factor: 0.8,
      requests: [500, 800, 850],
      v122: ['800Mi', notAbove(800), notAbove(850)],
      v127: ['900Mi', '960Mi', '970Mi'],
    },
    { factor: 0.4, requests: [500], v122: [notAbove(500)], v127: ['700Mi'] },
  ])
    test(`alpha 1.22 beside 1.27, factor ${factor}`, async () => {
      expect(await kepTable('1.22', factor, requests)).toEqual(v122)
      expect(await kepTable('1.27', factor, requests)).toEqual(v127)
    })
})

const pod = (resources: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, resources: ${resources}}]}\n`
const kubelet = (more: string): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${more}\n`

describe('bad input: one clear error with a code, exit status 2, nothing on standard output', () => {
  const goodPod = () => scratchFile('good.yaml', pod('{}'))
  for (const { name, argv, code, says } of [
    {
      name: 'malformed YAML',
      argv: () => ['-f', scratchFile('a.yaml', 'a: [1\nb: }')],
      code: 'yaml.invalid',
      says: /a\.yaml:\d/,
    },
    {
      name: 'a key twice',
      argv: () => ['-f', scratchFile('b.yaml', 'kind: Pod\nkind: Pod\n')],
      code: 'yaml.invalid',
      says: /b\.yaml:2.*twice/,
    },
    {
      name: 'negative quantity',
      argv: () => ['-f', scratchFile('c.yaml', pod('{requests: {memory: -1Mi}}'))],
      code: 'pod.invalid',
      says: /negative/,
    },
    {
      name: 'absurd quantity',
      argv: () => ['-f', scratchFile('d.yaml', pod('{requests: {memory: 99999999999Ei}}'))],
      code: 'pod.invalid',
      says: /no node has/,
    },
    {
      name: 'quantity with a wrong suffix',
      argv: () => ['-f', scratchFile('e.yaml', pod('{requests: {memory: 1Kb}}'))],
      code: 'pod.invalid',
      says: /1Kb/,
    },
    {
      name: 'NaN factor',
      argv: () => [
        '-f',
        goodPod(),
        '--config',
        scratchFile('f.yaml', kubelet('featureGates: {MemoryQoS: true}\nmemoryThrottlingFactor: .nan')),
      ],
      code: 'config.invalid',
      says: /memoryThrottlingFactor/,
    },
    {
      name: 'a kind without pods',
      argv: () => ['-f', scratchFile('g.yaml', 'kind: ConfigMap\nmetadata: {name: x}\n')],
      code: 'pod.invalid',
      says: /ConfigMap x has no pods.*Deployment/,
    },
    {
      name: 'a Pod where a configuration belongs',
      argv: () => ['-f', goodPod(), '--config', goodPod()],
      code: 'config.kind',
      says: /KubeletConfiguration/,
    },
    {
      name: 'binary file',
      argv: () => ['-f', scratchFile('h.yaml', Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]))],
      code: 'input.not-text',
      says: /h\.yaml/,
    },
    {
      name: '50 MB of YAML',
      argv: () => ['-f', scratchFile('i.yaml', Buffer.alloc(50_000_000, 'a: b\n'))],
      code: 'input.too-large',
      says: /i\.yaml/,
    },
    { name: 'a directory', argv: () => ['-f', scratch], code: 'input.unreadable', says: /directory/ },
    {
      name: 'no such file',
      argv: () => ['-f', join(scratch, 'nowhere.yaml')],
      code: 'input.unreadable',
      says: /nowhere/,
    },
    {
      name: 'an empty file',
      argv: () => ['-f', scratchFile('j.yaml', '')],
      code: 'pod.invalid',
      says: /no pod found/,
    },
    {
      name: 'page size',
      argv: () => ['-f', goodPod(), '--page-size', '1000'],
      code: 'usage.invalid',
      says: /power of two/,
    },
    {
      name: 'capacity',
      argv: () => ['-f', goodPod(), '--memory-capacity', '12 GB'],
      code: 'quantity.invalid',
      says: /--memory-capacity/,
    },
    {
      name: 'unknown version',
      argv: () => ['-f', goodPod(), '--kubernetes-version', '7.1'],
      code: 'version.unknown',
      says: /7\.1/,
    },
    {
      name: 'policy before the field exists',
      argv: () => [
        '-f',
        goodPod(),
        '--kubernetes-version',
        '1.30',
        '--config',
        scratchFile('k.yaml', kubelet('featureGates: {MemoryQoS: true}\nmemoryReservationPolicy: None')),
      ],
      code: 'config.invalid',
      says: /memoryReservationPolicy/,
    },
    {
      name: 'unknown gate',
      argv: () => ['-f', goodPod(), '--feature-gates', 'MemoryQos=true'],
      code: 'config.invalid',
      says: /MemoryQoS/,
    },
  ])
    test(name, async () => {
      const ran = await runCommand(['explain', ...argv()])
      expect(ran.stderr.trimEnd().split('\n'), ran.stderr).toHaveLength(1)
      expect(ran.stderr).toMatch(says)
      expect(ran.stderr).toContain(`[${code}]`)
      expect(ran.stdout).toBe('')
      expect(ran.status).toBe(2)
    })
})
