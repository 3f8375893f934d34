// Control files as the kernel has them: first content, and what becomes of a written value. Errors are errno words.

export interface FakeFile {
  readonly initial: string
  /** The new content, or an errno. Undefined: the file is read-only. */
  readonly write?: (value: string, kernel: FakeKernel) => string | { readonly errno: string }
  /** Also in the root cgroup of v2. */
  readonly inRoot?: true
}

interface FakeKernel {
  readonly pageSize: bigint
}

const invalid = { errno: 'EINVAL' } as const
const PAGES_LIMIT = 2n ** 63n - 1n
const suffixes: Readonly<Record<string, bigint>> = { '': 1n, K: 2n ** 10n, M: 2n ** 20n, G: 2n ** 30n }

function memoryAmount(value: string, { pageSize }: FakeKernel): bigint | undefined {
  const [, digits, suffix = ''] = /^(\d+)([KMG]?)$/.exec(value.trim().toUpperCase()) ?? []
  if (digits === undefined) return undefined
  const bytes = BigInt(digits) * (suffixes[suffix] ?? 1n)
  const most = (PAGES_LIMIT / pageSize) * pageSize
  return bytes >= most ? most : (bytes / pageSize) * pageSize
}

const memory = (value: string, kernel: FakeKernel) => {
  if (value.trim() === 'max') return 'max'
  const amount = memoryAmount(value, kernel)
  if (amount === undefined) return invalid
  return amount === (PAGES_LIMIT / kernel.pageSize) * kernel.pageSize ? 'max' : amount.toString()
}

const memoryV1 = (value: string, kernel: FakeKernel) =>
  (value.trim() === '-1'
    ? memoryAmount(PAGES_LIMIT.toString(), kernel)
    : memoryAmount(value, kernel)
  )?.toString() ?? invalid

const range = (low: number, high: number, errno: string) => (value: string) => {
  const n = Number(value)
  if (!/^-?\d+$/.test(value.trim())) return invalid
  return n < low || n > high ? { errno } : n.toString()
}

const PID_MAX = 4_194_304
const pids = (value: string) => (value.trim() === 'max' ? 'max' : range(0, PID_MAX, 'EINVAL')(value))

function cpuMax(value: string): string | typeof invalid {
  const [quota = '', period = '100000'] = value.trim().split(/\s+/)
  if (!/^\d+$/.test(period) || Number(period) < 1_000 || Number(period) > 1_000_000) return invalid
  if (quota === 'max') return `max ${period}`
  return /^\d+$/.test(quota) && Number(quota) >= 1_000 ? `${Number(quota)} ${period}` : invalid
}

const memoryStat = 'anon 0\nfile 0\ninactive_anon 0\nactive_anon 0\ninactive_file 0\nactive_file 0'
const events = 'low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0'
const root = { inRoot: true } as const

export const filesV2: Readonly<Record<string, Readonly<Record<string, FakeFile>>>> = {
  memory: {
    'memory.current': { initial: '0' },
    'memory.peak': { initial: '0' },
    'memory.stat': { initial: memoryStat, ...root },
    'memory.events': { initial: events },
    'memory.min': { initial: '0', write: memory },
    'memory.low': { initial: '0', write: memory },
    'memory.high': { initial: 'max', write: memory },
    'memory.max': { initial: 'max', write: memory },
    'memory.swap.max': { initial: 'max', write: memory },
    'memory.oom.group': { initial: '0', write: range(0, 1, 'EINVAL') },
  },
  cpu: {
    'cpu.stat': { initial: 'usage_usec 0\nuser_usec 0\nsystem_usec 0', ...root },
    'cpu.weight': { initial: '100', write: range(1, 10_000, 'ERANGE') },
    'cpu.max': { initial: 'max 100000', write: cpuMax },
  },
  io: { 'io.stat': { initial: '', ...root } },
  pids: { 'pids.current': { initial: '0' }, 'pids.max': { initial: 'max', write: pids } },
  cpuset: { 'cpuset.cpus.effective': { initial: '0-1', ...root } },
  hugetlb: { 'hugetlb.2MB.max': { initial: 'max', write: memory } },
}

export const filesV1: typeof filesV2 = {
  memory: {
    'memory.usage_in_bytes': { initial: '0' },
    'memory.max_usage_in_bytes': { initial: '0' },
    'memory.stat': { initial: 'cache 0\nrss 0\ntotal_inactive_file 0' },
    'memory.limit_in_bytes': { initial: '9223372036854771712', write: memoryV1 },
  },
  cpu: {
    'cpu.shares': { initial: '1024', write: range(2, 262_144, 'EINVAL') },
    'cpu.cfs_period_us': { initial: '100000', write: range(1_000, 1_000_000, 'EINVAL') },
    'cpu.cfs_quota_us': { initial: '-1', write: range(-1, Number.MAX_SAFE_INTEGER, 'EINVAL') },
    'cpu.stat': { initial: 'nr_periods 0\nnr_throttled 0\nthrottled_time 0' },
  },
  cpuacct: { 'cpuacct.usage': { initial: '0' } },
  blkio: { 'blkio.throttle.io_service_bytes': { initial: 'Total 0' } },
  pids: { 'pids.current': { initial: '0' }, 'pids.max': { initial: 'max', write: pids } },
}
