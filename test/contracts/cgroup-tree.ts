// What every CgroupTree does, whether fake, on the host's hierarchies or in a lab kernel. The cases are plain values and
// throw on failure, so that a test runner and a script inside a lab fixture can both run them.
import assert from 'node:assert/strict'
import { isKeelsonError } from '../../src/core/errors.js'
import { parseCount, parseCountOrMax } from '../../src/core/kernel-text/digits.js'
import { isSettled } from '../../src/core/kernel-text/read-back.js'
import { decodeText, parsePids } from '../../src/core/kernel-text/words.js'
import type { CgroupPath, CgroupTree } from '../../src/ports/cgroups.js'

export interface CgroupSubject {
  readonly tree: CgroupTree
  /** Does not exist before a case and is removed after it. */
  readonly base: CgroupPath
  readonly pageSize: bigint
  /** Puts a process into the cgroup. */
  startProcess(path: CgroupPath): Promise<{ readonly pid: number; end(): Promise<void> }>
}

export interface ContractCase {
  readonly name: string
  readonly version?: 'v1' | 'v2'
  /** Controller that the root must have. */
  readonly needs?: string
  run(subject: CgroupSubject): Promise<void>
}

const codeOf = async (action: () => unknown): Promise<string> => {
  try {
    await action()
    return 'no error'
  } catch (error) {
    if (isKeelsonError(error)) return error.code
    throw error
  }
}

const textOf = ({ tree }: CgroupSubject, path: CgroupPath, file: string): string | undefined => {
  const bytes = tree.read(path, file)
  return bytes === undefined ? undefined : decodeText(bytes).trim()
}

const outside = ['..', '/..', '/a/../b', '/./a', '//a', '/a/', 'a', '', '/a\0b']

export const cgroupContract: readonly ContractCase[] = [
  {
    name: 'ensure makes every level, twice is once, and the tree lists it',
    async run({ tree, base }) {
      await tree.ensure(`${base}/b/c`)
      await tree.ensure(`${base}/b/c`)
      await tree.ensure(`${base}/a`)
      assert.equal(tree.exists(`${base}/b/c`), true)
      assert.deepEqual(tree.children(base), ['a', 'b'])
      assert.deepEqual(tree.walk(base), [base, `${base}/a`, `${base}/b`, `${base}/b/c`])
      assert.deepEqual(tree.walk(base, { maxDepth: 1 }), [base, `${base}/a`, `${base}/b`])
      assert.equal(tree.walk(base, { maxCgroups: 2 }).length, 2)
    },
  },
  {
    name: 'ensure makes the controllers of the root usable at the end of the path',
    async run({ tree, base }) {
      await tree.ensure(`${base}/b/c`)
      const used = ['cpu', 'cpuset', 'hugetlb', 'io', 'memory', 'pids']
      const wanted = (tree.controllers('/') ?? []).filter((name) => used.includes(name))
      const got = tree.controllers(`${base}/b/c`) ?? []
      assert.deepEqual(
        wanted.filter((name) => !got.includes(name)),
        [],
      )
    },
  },
  {
    name: 'addProcess makes the cgroup and moves the process to it, in every hierarchy',
    async run({ tree, base, startProcess }) {
      await tree.ensure(`${base}/a`)
      const { pid, end } = await startProcess(`${base}/a`)
      try {
        tree.addProcess(`${base}/b`, pid)
        const pids = (path: CgroupPath) => parsePids(tree.read(path, 'cgroup.procs') ?? new Uint8Array())
        assert.deepEqual([pids(`${base}/a`), pids(`${base}/b`)], [[], [pid]])
        // Nothing of it holds the first one, in whatever hierarchy.
        await tree.remove(`${base}/a`)
        assert.equal(await codeOf(() => tree.remove(`${base}/b`, { timeoutMs: 100 })), 'cgroup.busy')
      } finally {
        await end()
      }
    },
  },
  {
    name: 'ensure with a controller that the kernel does not have names it',
    async run({ tree, base }) {
      await assert.rejects(tree.ensure(base, { controllers: ['teapot'] }), /teapot/)
      assert.equal(
        await codeOf(() => tree.ensure(base, { controllers: ['teapot'] })),
        'cgroup.controller-missing',
      )
      assert.equal(tree.exists(base), false)
    },
  },
  {
    name: 'what is not there reads as undefined',
    async run({ tree, base }) {
      assert.equal(tree.read(base, 'cgroup.procs'), undefined)
      assert.equal(tree.children(base), undefined)
      assert.equal(tree.controllers(base), undefined)
      assert.deepEqual(tree.walk(base), [])
      await tree.ensure(base)
      assert.equal(tree.read(base, 'memory.teapot'), undefined)
    },
  },
  {
    name: 'no path or file name leaves the tree',
    async run({ tree }) {
      for (const path of outside) {
        for (const action of [
          () => tree.read(path, 'cgroup.procs'),
          () => tree.write(path, 'cgroup.procs', '1'),
          () => tree.exists(path),
          () => tree.children(path),
          () => tree.controllers(path),
          () => tree.ensure(path),
          () => tree.remove(path),
        ])
          assert.equal(await codeOf(action), 'cgroup.invalid-path', `${JSON.stringify(path)} ${action}`)
      }
      for (const file of ['../x', 'a/b', '..', '', 'a..b', '.hidden'])
        assert.equal(await codeOf(() => tree.read('/', file)), 'cgroup.invalid-path', JSON.stringify(file))
    },
  },
  {
    name: 'a removed cgroup reads as undefined, and a new one of its name reads again',
    async run({ tree, base }) {
      await tree.ensure(`${base}/a`)
      assert.deepEqual(parsePids(tree.read(`${base}/a`, 'cgroup.procs') ?? new Uint8Array([120])), [])
      await tree.remove(`${base}/a`)
      assert.equal(tree.read(`${base}/a`, 'cgroup.procs'), undefined)
      await tree.ensure(`${base}/a`)
      assert.equal(tree.read(`${base}/a`, 'cgroup.procs')?.length, 0)
    },
  },
  {
    name: 'remove takes the empty ones below along; gone is fine; the root stays',
    async run({ tree, base }) {
      await tree.ensure(`${base}/a/b/c`)
      await tree.remove(base)
      assert.equal(tree.exists(base), false)
      await tree.remove(base)
      assert.equal(await codeOf(() => tree.remove('/')), 'cgroup.invalid-path')
    },
  },
  {
    name: 'a cgroup with a process is busy until the process ends',
    async run({ tree, base, startProcess }) {
      await tree.ensure(`${base}/a`)
      const process = await startProcess(`${base}/a`)
      try {
        assert.deepEqual(parsePids(tree.read(`${base}/a`, 'cgroup.procs') ?? new Uint8Array()), [process.pid])
        assert.equal(await codeOf(() => tree.remove(base, { timeoutMs: 100 })), 'cgroup.busy')
        assert.equal(tree.exists(`${base}/a`), true)
      } finally {
        await process.end()
      }
      await tree.remove(base)
      assert.equal(tree.exists(base), false)
    },
  },
  {
    name: 'controllers cannot be enabled where a process stands',
    version: 'v2',
    needs: 'memory',
    async run({ tree, base, startProcess }) {
      await tree.ensure(base)
      const process = await startProcess(base)
      try {
        assert.equal(await codeOf(() => tree.ensure(`${base}/a`)), 'cgroup.busy')
      } finally {
        await process.end()
      }
    },
  },
  {
    name: 'writing: gone cgroup, missing file and bad value are told apart',
    async run({ tree, base }) {
      assert.equal(await codeOf(() => tree.write(base, 'cgroup.procs', '1')), 'cgroup.gone')
      await tree.ensure(base)
      assert.equal(await codeOf(() => tree.write(base, 'memory.teapot', '1')), 'cgroup.controller-missing')
      assert.equal(await codeOf(() => tree.write(base, 'cgroup.procs', 'teapot')), 'cgroup.invalid-value')
    },
  },
  {
    name: 'memory amounts are floored to pages, also through a kept descriptor',
    version: 'v2',
    needs: 'memory',
    async run(subject) {
      const { tree, base, pageSize } = subject
      await tree.ensure(base)
      assert.equal(textOf(subject, base, 'memory.high'), 'max')
      for (const [file, value] of [
        ['memory.high', '100000000'],
        ['memory.min', '4097'],
        ['memory.low', '1'],
        ['memory.max', '123456789'],
      ] as const) {
        tree.write(base, file, value)
        const floored = (BigInt(value) / pageSize) * pageSize
        assert.equal(parseCount(tree.read(base, file) ?? new Uint8Array()), floored, file)
        assert.equal(isSettled(file, value, textOf(subject, base, file) ?? '', pageSize), true)
      }
    },
  },
  {
    name: 'the largest amounts read as max',
    version: 'v2',
    needs: 'memory',
    async run(subject) {
      const { tree, base, pageSize } = subject
      await tree.ensure(base)
      const page = (2n ** 63n - 1n) / pageSize
      for (const value of [
        'max',
        `${2n ** 63n - 1n}`,
        `${2n ** 63n}`,
        `${page * pageSize}`,
        `${(page - 1n) * pageSize}`,
      ]) {
        tree.write(base, 'memory.high', value)
        const text = textOf(subject, base, 'memory.high') ?? ''
        assert.equal(text, value === `${(page - 1n) * pageSize}` ? value : 'max')
        assert.equal(isSettled('memory.high', value, text, pageSize), true)
      }
    },
  },
  {
    name: 'values that the kernel does not take are invalid, and change nothing',
    version: 'v2',
    needs: 'memory',
    async run(subject) {
      const { tree, base } = subject
      await tree.ensure(base)
      for (const [file, value] of [
        ['memory.high', 'lots'],
        ['cpu.weight', '0'],
        ['cpu.weight', '10001'],
        ['cpu.max', '10 100000'],
        ['pids.max', '-5'],
      ] as const)
        assert.equal(
          await codeOf(() => tree.write(base, file, value)),
          'cgroup.invalid-value',
          `${file}=${value}`,
        )
      assert.equal(textOf(subject, base, 'memory.high'), 'max')
      assert.equal(textOf(subject, base, 'cpu.weight'), '100')
    },
  },
  {
    name: 'apply writes each value',
    version: 'v2',
    needs: 'memory',
    async run(subject) {
      const { tree, base } = subject
      await tree.ensure(base)
      await tree.apply(base, { 'memory.min': '8192', 'cpu.max': '50000 100000', 'pids.max': '77' })
      assert.deepEqual(
        ['memory.min', 'cpu.max', 'pids.max'].map((file) => textOf(subject, base, file)),
        ['8192', '50000 100000', '77'],
      )
      assert.equal(
        await codeOf(() => tree.apply(base, {}, AbortSignal.abort(new TypeError('stop')))).catch(String),
        'TypeError: stop',
      )
    },
  },
  {
    name: 'v1: memory limits are floored, and each file is found in its hierarchy',
    version: 'v1',
    needs: 'memory',
    async run(subject) {
      const { tree, base, pageSize } = subject
      await tree.ensure(base)
      tree.write(base, 'memory.limit_in_bytes', '100000000')
      tree.write(base, 'cpu.shares', '512')
      tree.write(base, 'pids.max', '77')
      assert.equal(
        parseCount(tree.read(base, 'memory.limit_in_bytes') ?? new Uint8Array()),
        (100000000n / pageSize) * pageSize,
      )
      assert.equal(parseCount(tree.read(base, 'cpu.shares') ?? new Uint8Array()), 512n)
      assert.equal(parseCountOrMax(tree.read(base, 'pids.max') ?? new Uint8Array()), 77n)
      tree.write(base, 'memory.limit_in_bytes', '-1')
      assert.equal(
        textOf(subject, base, 'memory.limit_in_bytes'),
        `${((2n ** 63n - 1n) / pageSize) * pageSize}`,
      )
    },
  },
]

/** Runs one case on a clean base and leaves none behind. Answers false when the subject lacks what the case needs. */
export async function runContractCase(contract: ContractCase, subject: CgroupSubject): Promise<boolean> {
  const { tree, base } = subject
  if (contract.version !== undefined && contract.version !== tree.version) return false
  if (contract.needs !== undefined && !tree.controllers('/')?.includes(contract.needs)) return false
  await tree.remove(base)
  try {
    await contract.run(subject)
  } finally {
    await tree.remove(base)
  }
  return true
}
