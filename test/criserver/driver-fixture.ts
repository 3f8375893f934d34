// A fake runtime and the server in front of it, with all that the driver can be learned from: Status, files, sandboxes.
import type { ClientHttp2Session } from 'node:http2'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { parseToml } from '../../src/adapters/files/toml.js'
import { createDriverFinder } from '../../src/criserver/driver/find.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { FakeLog } from '../../src/fakes/log.js'
import type { FileEntry } from '../../src/ports/files.js'
import { frame, type RawAnswer, rawCall, withoutDate } from './raw-client.js'
import { startServerFixture } from './server-fixture.js'

/** Closed in reverse order after each test of a file that uses it. */
export const closers: (() => void | Promise<void>)[] = []
export const closeAll = async (): Promise<void> => {
  for (const close of closers.splice(0).reverse()) await close()
}

/** An empty request; two answers may lie on both sides of a second. */
export const ask = async (session: ClientHttp2Session, path: string): Promise<RawAnswer> =>
  withoutDate(await rawCall(session, path, frame(Buffer.alloc(0))))

const id = 'b'.repeat(64)
const paths = {
  systemd: `/kubepods.slice/kubepods-podx.slice/cri-containerd-${id}.scope`,
  cgroupfs: `/kubepods/podx/${id}`,
}

export interface DriverCase {
  readonly scripts?: Scripts
  readonly operator?: 'systemd' | 'cgroupfs'
  readonly files?: Readonly<Record<string, string>>
  /** Seconds; the runtime's socket is of second 100. */
  readonly changedAt?: number
  readonly sandbox?: keyof typeof paths
}

const withSandbox: Scripts = {
  ListPodSandbox: { value: { items: [{ id, metadata: { name: 'web', namespace: 'default' } }] } },
  PodSandboxStatus: { value: { status: { id }, info: { info: '{"pid":4711}' } } },
}

export async function startWithDriver(c: DriverCase) {
  const runtime = await startFakeRuntime({
    Version: { value: { runtimeName: 'containerd', runtimeVersion: '1.6.20' } },
    Status: { value: { status: {} } },
    ListPodSandbox: { value: {} },
    ...(c.sandbox === undefined ? {} : withSandbox),
    ...c.scripts,
  })
  closers.push(() => runtime.close())
  const client = createCriClient(runtime.endpoint)
  closers.push(() => client.close())
  const files = c.files ?? {}
  const log = new FakeLog()
  const options: Parameters<typeof createDriverFinder>[0] = {
    client,
    operator: c.operator,
    configFile: undefined,
    files: {
      read: async (path) => (files[path] === undefined ? undefined : Buffer.from(files[path])),
      list: async (dir) =>
        Object.keys(files)
          .filter((f) => f.startsWith(`${dir}/`))
          .sort()
          .map(
            (path): FileEntry => ({
              path,
              name: path.slice(dir.length + 1),
              size: 1n,
              mtimeNanos: 1n,
              inode: 1n,
            }),
          ),
    },
    mtimeNanos: (path) => (path === runtime.socketPath ? 100n : undefined),
    changedNanos: () => BigInt(c.changedAt ?? 50),
    parseToml,
    procfs: {
      cgroupOf: (pid) =>
        pid === 4711 ? { unified: paths[c.sandbox ?? 'systemd'], controllers: new Map() } : undefined,
    },
    cgroupVersion: 'v2',
    log,
  }
  const fixture = await startServerFixture(runtime.endpoint, {
    services: {
      findDriver: createDriverFinder(options),
      log,
      metricsUrl: () => 'https://127.0.0.1:10252/metrics',
    },
  })
  closers.push(() => fixture.close())
  const through = createCriClient(fixture.endpoint)
  closers.push(() => through.close())
  return { runtime, fixture, log, through }
}

export const infoConfig = (runtimes: object, name = 'runc'): Scripts => ({
  Status: {
    value: {
      status: {},
      info: { config: JSON.stringify({ containerd: { defaultRuntimeName: name, runtimes } }) },
    },
  },
})
export const runc = (SystemdCgroup: boolean) => ({
  runtimeType: 'io.containerd.runc.v2',
  options: { SystemdCgroup },
})
export const crio: Scripts = { Version: { value: { runtimeName: 'cri-o', runtimeVersion: '1.27.0' } } }
