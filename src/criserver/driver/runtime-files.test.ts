import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { FileEntry } from '../../ports/files.js'
import { type RuntimeKind, readRuntimeFiles } from './runtime-files.js'

interface Row {
  readonly name: string
  readonly kind?: RuntimeKind
  readonly configFile?: string
  /** Path -> what the file says, parsed. */
  readonly files: Readonly<Record<string, unknown>>
  /** Seconds; the runtime started in second 100, everything else is of second 50. */
  readonly changed?: Readonly<Record<string, number>>
  /** `systemd` of each handler, and whether the runtime can have read it so. */
  readonly says?: readonly [drivers: readonly string[], isAsLoaded: boolean]
  readonly silent?: RegExp
}

const main = '/etc/containerd/config.toml'
const imports = (...list: string[]) => ({ version: 2, imports: list })
const handler = (systemd: boolean, more: object = {}) => ({
  version: 2,
  ...more,
  plugins: {
    'io.containerd.grpc.v1.cri': {
      containerd: {
        runtimes: { runc: { runtime_type: 'io.containerd.runc.v2', options: { SystemdCgroup: systemd } } },
      },
    },
  },
})
const crio = (manager: string) => ({ crio: { runtime: { cgroup_manager: manager } } })
const dropIn = '/etc/crio/crio.conf.d/10-crio.conf'

const rows: readonly Row[] = [
  {
    name: 'a file imported by an imported one, beside it',
    files: {
      [main]: imports('conf.d/a.toml'),
      '/etc/containerd/conf.d/a.toml': imports('b.toml'),
      '/etc/containerd/conf.d/b.toml': handler(true),
    },
    says: [['systemd'], true],
  },
  {
    name: 'files that import each other are read once',
    files: { [main]: handler(true, imports('b.toml')), '/etc/containerd/b.toml': imports('config.toml') },
    says: [['systemd'], true],
  },
  {
    name: 'a word of a nested import against the first',
    files: {
      [main]: handler(true, imports('a.toml')),
      '/etc/containerd/a.toml': imports('b.toml'),
      '/etc/containerd/b.toml': handler(false),
    },
    says: [['systemd', 'cgroupfs'], true],
  },
  {
    name: 'an imported file that has lost its handlers since',
    files: { [main]: handler(true, imports('a.toml')), '/etc/containerd/a.toml': { version: 2 } },
    changed: { '/etc/containerd/a.toml': 200 },
    says: [['systemd'], false],
  },
  {
    name: 'a directory of imports whose files came or went since',
    files: { [main]: handler(true, imports('/etc/containerd/conf.d/*.toml')) },
    changed: { '/etc/containerd/conf.d': 200 },
    says: [['systemd'], false],
  },
  {
    name: 'an import that is not there',
    files: { [main]: imports('gone.toml') },
    silent: /there is no \/etc\/containerd\/gone.toml/,
  },
  {
    name: 'a pattern of another form',
    files: { [main]: handler(true, imports('/etc/*/x.toml')) },
    silent: /imports \/etc\/\*\/x.toml, a pattern that is not supported/,
  },
  {
    name: 'more files than anybody has',
    files: Object.fromEntries(
      Array.from({ length: 70 }, (_, i) => [
        i === 0 ? main : `/etc/containerd/${i}.toml`,
        imports(`${i + 1}.toml`),
      ]),
    ),
    silent: /more than 64 files/,
  },
  {
    name: 'CRI-O with drop-ins alone',
    kind: 'crio',
    files: { [dropIn]: crio('cgroupfs') },
    says: [['cgroupfs'], true],
  },
  {
    name: 'CRI-O: drop-ins count beside a file that was named',
    kind: 'crio',
    configFile: '/etc/crio/crio.conf',
    files: { '/etc/crio/crio.conf': crio('systemd'), [dropIn]: crio('cgroupfs') },
    says: [['cgroupfs'], true],
  },
  {
    name: 'CRI-O: a drop-in taken away since',
    kind: 'crio',
    files: { '/etc/crio/crio.conf': crio('systemd'), [dropIn]: {} },
    changed: { '/etc/crio/crio.conf.d': 200 },
    says: [['systemd'], false],
  },
  { name: 'CRI-O without any file', kind: 'crio', files: {}, silent: /there is no \/etc\/crio\/crio.conf/ },
  {
    name: 'CRI-O: the file that was named is not there',
    kind: 'crio',
    configFile: '/opt/crio.conf',
    files: { [dropIn]: crio('cgroupfs') },
    silent: /there is no \/opt\/crio.conf/,
  },
]

describe('readRuntimeFiles', () => {
  for (const { name, kind = 'containerd', configFile, files, changed, says, silent } of rows)
    test(name, async () => {
      const stated = await readRuntimeFiles(
        {
          configFile,
          files: {
            read: async (path) => (path in files ? Buffer.from(JSON.stringify(files[path])) : undefined),
            list: async (directory) => {
              const found = Object.keys(files).filter((f) => f.startsWith(`${directory}/`))
              if (found.length === 0 && changed?.[directory] === undefined) return undefined
              return found.map(
                (path): FileEntry => ({
                  path,
                  name: path.slice(directory.length + 1),
                  size: 1n,
                  mtimeNanos: 1n,
                  inode: 1n,
                }),
              )
            },
          },
          mtimeNanos: () => 100n,
          changedNanos: (path) => BigInt(changed?.[path] ?? 50),
          parseToml: JSON.parse,
        },
        kind,
        '/run/runtime.sock',
      )
      if ('silent' in stated) assert.match(stated.silent, silent ?? /^$/)
      else assert.deepEqual([stated.handlers.map((h) => h.driver), stated.isAsLoaded], says)
    })
})
