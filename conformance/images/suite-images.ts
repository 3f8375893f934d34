// The images that Kubernetes' own suites ask for, by the names and tags of v1.37.1: agnhost built from its sources, the
// rest from busybox and programs of Debian. Each does what the specs look at in the published one.
import type { ImageFile } from '../../src/lab/images/archive.js'
import { pauseProgram } from '../../src/lab/images/programs.js'
import { effectiveUidProgram } from '../critest/effective-uid.js'
import { copyOf, directory, program, text } from './files.js'
import { protectedRepository } from './protected-repository.js'
import { createPacker, digestOf, type TestImage } from './test-image.js'

export interface Ingredients {
  readonly busybox: string
  readonly applets: readonly string[]
  /** Root of the unpacked Debian packages. */
  readonly debian: string
  readonly agnhost: string
  readonly sampleDevicePlugin: string
  /** test/images of Kubernetes' module: certificates of agnhost's porter. */
  readonly kubernetesImages: string
}

const e2e = (name: string): string => `e2e-test-images/${name}`

const users = (more = ''): ImageFile =>
  text(
    'etc/passwd',
    `root:x:0:0:root:/root:/bin/sh
daemon:x:2:2:daemon:/:/bin/false
www-data:x:33:33:www-data:/var/www:/bin/false
${more}nobody:x:65534:65534:nobody:/:/bin/false
`,
  )
const groups = (more = ''): ImageFile =>
  text('etc/group', `root:x:0:\ndaemon:x:2:\nwww-data:x:33:\n${more}nogroup:x:65534:\n`)

/** Applets that would replace the image's own first process or are of no use in a container. */
const leftOut = new Set(['busybox', 'dpkg', 'dpkg-deb', 'init', 'linuxrc', 'rpm'])

async function busyboxLayer({ busybox, applets }: Ingredients): Promise<ImageFile[]> {
  const places = [
    'bin',
    'dev',
    'etc',
    'home',
    'mnt',
    'opt',
    'proc',
    'run',
    'sys',
    'usr',
    'usr/bin',
    'var',
    'var/log',
  ]
  return [
    ...places.map((p) => directory(p)),
    directory('root', 0o700),
    ...['tmp', 'var/tmp'].map((p) => directory(p, 0o1777)),
    await copyOf('bin/busybox', busybox, 0o755),
    ...applets.filter((a) => !leftOut.has(a)).map((a) => ({ path: `bin/${a}`, link: 'busybox' })),
    { path: 'usr/bin/env', link: '../../bin/busybox' },
    users(),
    groups(),
    text('etc/shadow', 'root:*:::::::\n', 0o600),
    text('etc/nsswitch.conf', 'hosts: files dns\n'),
  ]
}

const pauseImage = (): TestImage => ({
  repository: 'pause',
  tags: ['3.10.2', '3.10'],
  layers: [[{ path: 'pause', data: pauseProgram(), mode: 0o755 }]],
  entrypoint: ['/pause'],
  user: '65535:65535',
})

/** agnhost can be a registry itself, of the files below /var/registry: specs run it in a pod and pull from it. */
async function registryFiles(pause: TestImage): Promise<ImageFile[]> {
  const { manifest, blobs } = await createPacker()(pause)
  const stored = (kind: string, data: Buffer): ImageFile => {
    const hash = digestOf(data).slice('sha256:'.length)
    return { path: `var/registry/pause/${kind}/sha256/${hash.slice(0, 2)}/${hash}/data`, data, mode: 0o644 }
  }
  return [
    stored('manifests', manifest),
    ...blobs.map((b) => stored('blobs', b)),
    text('var/registry/pause/manifests/testing', `${digestOf(manifest)}\n`),
  ]
}

async function agnhostLayer(from: Ingredients, pause: TestImage): Promise<ImageFile[]> {
  const home = { path: 'home/user-defined-in-image', mode: 0o755, owner: 1000 }
  const programs = await Promise.all([
    program('bin/bash', '/usr/bin/bash', from.debian),
    program('bin/ip', '/usr/sbin/ip', from.debian),
    program('bin/nc', `${from.debian}/bin/nc.openbsd`, from.debian),
    program('usr/bin/curl', '/usr/bin/curl', from.debian),
    program('usr/bin/dig', `${from.debian}/usr/bin/dig`, from.debian),
    program('usr/bin/iperf', `${from.debian}/usr/bin/iperf`, from.debian),
    program('usr/bin/nslookup', `${from.debian}/usr/bin/nslookup`, from.debian),
    program('usr/bin/nsenter', '/usr/bin/nsenter', from.debian),
    program('usr/bin/socat', `${from.debian}/usr/bin/socat`, from.debian),
  ])
  return [
    ...programs.flat(),
    users('user-defined-in-image:x:1000:1000::/home/user-defined-in-image:/bin/sh\n'),
    groups('user-defined-in-image:x:1000:\ngroup-defined-in-image:x:50000:user-defined-in-image\n'),
    home,
    directory('uploads'),
    await copyOf('agnhost', from.agnhost, 0o755),
    { path: 'agnhost-2', link: 'agnhost' },
    await copyOf('localhost.crt', `${from.kubernetesImages}/agnhost/porter/localhost.crt`, 0o644),
    await copyOf('localhost.key', `${from.kubernetesImages}/agnhost/porter/localhost.key`, 0o644),
    // Specs of image volumes look for the name of the distribution in it.
    text(
      'etc/os-release',
      'NAME="Alpine Linux"\nID=alpine\nPRETTY_NAME="Alpine Linux, stood in for by Keelson"\n',
    ),
    ...(await registryFiles(pause)),
  ]
}

const nginxConfiguration = `worker_processes 1;
error_log /dev/stderr;
pid /run/nginx.pid;
events { worker_connections 64; }
http {
  access_log /dev/stdout;
  server { listen 80; root /usr/share/nginx/html; }
}
`

async function nginxLayer(from: Ingredients): Promise<ImageFile[]> {
  return [
    ...(await program('usr/sbin/nginx', `${from.debian}/usr/sbin/nginx`, from.debian)),
    text('etc/nginx/nginx.conf', nginxConfiguration),
    text('usr/share/nginx/html/index.html', '<html><title>Welcome to nginx!</title></html>\n'),
    ...['var/lib', 'var/lib/nginx', 'var/log/nginx', 'usr/share/nginx'].map((p) => directory(p)),
  ]
}

const some = async (from: Ingredients, programs: Readonly<Record<string, string>>): Promise<ImageFile[]> =>
  (
    await Promise.all(Object.entries(programs).map(([path, source]) => program(path, source, from.debian)))
  ).flat()

export async function suiteImages(from: Ingredients): Promise<TestImage[]> {
  const base = await busyboxLayer(from)
  const pause = pauseImage()
  const agnhost = [base, await agnhostLayer(from, pause)]
  const agnhostStart = { entrypoint: ['/agnhost'], command: ['pause'] }
  const nginx = [base, await nginxLayer(from)]
  const nginxStart = { command: ['nginx', '-g', 'daemon off;'], stopSignal: 'SIGQUIT' }
  const shell = { command: ['sh'] }
  /** A file of its own gives an image that is otherwise the same an identity of its own. */
  const marked = (layers: TestImage['layers'], name: string): TestImage['layers'] => [
    ...layers,
    [text(`etc/${name}`, `${name}\n`)],
  ]
  const updateDemo = (name: string): TestImage => ({
    repository: e2e(name),
    tags: ['1.8'],
    layers: [
      ...agnhost,
      [text('data.json', JSON.stringify({ image: `${name}.jpg` })), text(`${name}.jpg`, name)],
    ],
    entrypoint: ['/agnhost'],
    command: ['test-webserver'],
  })
  const debian = from.debian
  return [
    pause,
    { repository: e2e('agnhost'), tags: ['2.66.1'], layers: agnhost, ...agnhostStart },
    { repository: e2e('agnhost'), tags: ['2.55'], layers: marked(agnhost, 'previous'), ...agnhostStart },
    {
      repository: protectedRepository.repository,
      tags: ['2.6'],
      layers: marked(agnhost, 'private'),
      ...agnhostStart,
    },
    updateDemo('kitten'),
    updateDemo('nautilus'),
    { repository: e2e('busybox'), tags: ['1.37.0-2', '1.36.1-1'], layers: [base], ...shell },
    { repository: e2e('nonroot'), tags: ['1.5'], layers: marked([base], 'nonroot'), ...shell, user: '1234' },
    {
      repository: e2e('nonewprivs'),
      tags: ['1.4'],
      layers: [base, [{ path: 'usr/local/bin/nnp', data: effectiveUidProgram(), mode: 0o4755 }]],
      command: ['nnp'],
    },
    {
      repository: e2e('ipc-utils'),
      tags: ['1.4'],
      layers: [
        base,
        await some(from, {
          'usr/bin/ipcmk': '/usr/bin/ipcmk',
          'usr/bin/ipcrm': '/usr/bin/ipcrm',
          'usr/bin/ipcs': '/usr/bin/ipcs',
        }),
      ],
      ...shell,
    },
    { repository: e2e('nginx'), tags: ['1.27.0-2'], layers: nginx, ...nginxStart },
    { repository: e2e('nginx'), tags: ['1.28.0-2'], layers: marked(nginx, 'newer'), ...nginxStart },
    {
      repository: e2e('glibc-dns-testing'),
      tags: ['2.1.1'],
      layers: [
        base,
        await some(from, {
          'bin/bash': '/usr/bin/bash',
          'bin/hostname': '/usr/bin/hostname',
          'usr/bin/dig': `${debian}/usr/bin/dig`,
          'usr/bin/getent': '/usr/bin/getent',
          'usr/bin/host': `${debian}/usr/bin/host`,
          'usr/bin/nslookup': `${debian}/usr/bin/nslookup`,
        }),
      ],
      command: ['bash'],
    },
    {
      repository: e2e('perl'),
      tags: ['5.26'],
      layers: [base, await some(from, { 'usr/bin/perl': '/usr/bin/perl' })],
      command: ['perl'],
    },
    {
      repository: e2e('sample-device-plugin'),
      tags: ['1.7', '1.8.0'],
      layers: [base, [await copyOf('sampledeviceplugin', from.sampleDevicePlugin, 0o755)]],
      entrypoint: ['/sampledeviceplugin', '-alsologtostderr'],
    },
  ]
}
