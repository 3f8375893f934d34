// Wrong values of runtimes, each as it was seen, and right ones that must stay.
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { isOtherNamespace } from './network-rules.js'
import { judgeValue, type KernelValues } from './value-rules.js'

const MiB = 1024n * 1024n
const all = (): boolean => true
const judge = (name: string, value: bigint, kernel: KernelValues) =>
  judgeValue(name, value, () => kernel, all)

describe('a value that is wrong', () => {
  const rows: readonly [
    title: string,
    name: string,
    value: bigint,
    kernel: KernelValues,
    right: bigint | undefined,
  ][] = [
    ['2^64-1 as peak', 'container_memory_max_usage_bytes', 2n ** 64n - 1n, { same: 7n * MiB }, 7n * MiB],
    ['2^64-1 as most threads', 'container_threads_max', 2n ** 64n - 1n, { same: 0n }, 0n],
    [
      '2^63 less usage as available',
      'memory.availableBytes',
      9_223_372_036_854_562_816n,
      { same: undefined },
      undefined,
    ],
    ['2^64-1 as available swap', 'swap.availableBytes', 2n ** 64n - 1n, { same: undefined }, undefined],
    [
      'the limit as peak',
      'container_memory_max_usage_bytes',
      64n * MiB,
      { same: 3n * MiB, limitBytes: 64n * MiB },
      3n * MiB,
    ],
    ['0 as CPU shares', 'container_spec_cpu_shares', 0n, { same: 1024n }, 1024n],
    ['memory as swap', 'swap.usageBytes', 40n * MiB, { same: 0n, usageBytes: 41n * MiB, swapBytes: 0n }, 0n],
    [
      'memory and swap as swap',
      'container_memory_swap',
      60n * MiB,
      { same: 20n * MiB, usageBytes: 40n * MiB, swapBytes: 20n * MiB },
      20n * MiB,
    ],
    ['no page faults', 'memory.pageFaults', 0n, { same: 512n }, 512n],
  ]
  for (const [title, name, value, kernel, right] of rows)
    test(title, () => {
      const verdict = judge(name, value, kernel)
      assert.ok(verdict !== undefined)
      assert.equal(verdict.value, right)
    })

  test("the kernel's own value is left out too where no machine can have it", () => {
    assert.deepEqual(judge('memory.usageBytes', 2n ** 64n - 1n, { same: 2n ** 63n }), {
      reason: 'unlimited-as-amount',
      value: undefined,
    })
  })
})

describe('a value that may be right', () => {
  const rows: readonly [title: string, name: string, value: bigint, kernel: KernelValues][] = [
    [
      'a peak at the limit',
      'container_memory_max_usage_bytes',
      64n * MiB,
      { same: 64n * MiB, limitBytes: 64n * MiB },
    ],
    [
      'a peak below the limit',
      'container_memory_max_usage_bytes',
      9n * MiB,
      { same: 10n * MiB, limitBytes: 64n * MiB },
    ],
    [
      'swap of its own',
      'swap.usageBytes',
      20n * MiB,
      { same: 20n * MiB, usageBytes: 21n * MiB, swapBytes: 20n * MiB },
    ],
    [
      'swap that grows',
      'swap.usageBytes',
      30n * MiB,
      { same: 20n * MiB, usageBytes: 90n * MiB, swapBytes: 20n * MiB },
    ],
    ['no page faults at all', 'memory.majorPageFaults', 0n, { same: 0n }],
    ['a file system of 1 EiB', 'container_fs_limit_bytes', 2n ** 60n, { same: undefined }],
  ]
  for (const [title, name, value, kernel] of rows)
    test(title, () => assert.equal(judge(name, value, kernel), undefined))

  test('costs no reading of the kernel', () => {
    const read = (): KernelValues => assert.fail('read')
    assert.equal(judgeValue('memory.workingSetBytes', 5n, read, all), undefined)
    assert.equal(
      judgeValue('container_memory_max_usage_bytes', 5n, read, () => false),
      undefined,
    )
  })
})

describe("a pod's network values", () => {
  const own = new Map([
    ['eth0', 2_048n],
    ['net1', 900n * MiB],
  ])
  for (const [title, given, other] of [
    ["the node's eth0", [['eth0', 2_000n * MiB]], true],
    ["an interface of the node's", [['ens3', 2_048n]], true],
    ['a counter that started again', [['net1', 3n]], true],
    [
      'its own, some time ago',
      [
        ['eth0', 1_024n],
        ['net1', 890n * MiB],
      ],
      false,
    ],
    [
      'the loopback beside its own',
      [
        ['lo', 77n],
        ['eth0', 2_048n],
      ],
      false,
    ],
  ] as const)
    test(`${title}: ${other ? 'another namespace' : 'its own'}`, () =>
      assert.equal(isOtherNamespace(new Map(given), own), other))
})
