// The images that critest pulls, by the names it uses, made from Debian's static busybox and scripts: each does what
// the specs look at in the published one. A registry of ours serves them by repository, whatever the registry's host.
import type { ImageFile } from '../../src/lab/images/archive.js'
import type { TestImage } from '../images/test-image.js'
import type { ImagePrograms } from './image-programs.js'

const executable = (path: string, text: string): ImageFile => ({ path, data: Buffer.from(text), mode: 0o755 })

/** Debian's busybox has no pgrep and no ipcs: the two forms that critest asks for. */
const pgrep = `#!/bin/sh
found=1
for dir in /proc/[0-9]*; do
  [ "$(cat "$dir/comm" 2> /dev/null)" = "$1" ] && echo "\${dir#/proc/}" && found=0
done
exit $found
`
const ipcs = `#!/bin/sh
cat /proc/sysvipc/shm
`

/** Called nginx, with a pid file and "master process" in its command line, as the specs of PID namespaces want it. */
const nginx = (port: number): string => `#!/bin/sh
trap 'exit 0' TERM INT QUIT
mkdir -p /var/run
echo $$ > /var/run/nginx.pid
httpd -f -p ${port} -h /www &
while :; do wait; sleep 1 & wait $!; done
`
const httpd = `#!/bin/sh
trap 'exit 0' TERM INT QUIT
echo "httpd: configured -- resuming normal operations"
httpd -f -p 80 -h /www &
while :; do wait; sleep 1 & wait $!; done
`

const page: readonly ImageFile[] = [
  { path: 'www', mode: 0o755 },
  { path: 'www/index.html', data: Buffer.from('<p>served by a test image of Keelson</p>\n'), mode: 0o644 },
]

const accounts = (users: readonly string[], groups: readonly string[]): ImageFile[] => [
  {
    path: 'etc/passwd',
    data: Buffer.from(
      [
        'root:x:0:0:root:/root:/bin/sh',
        'www-data:x:33:33:www-data:/var/www:/bin/false',
        ...users,
        'nobody:x:65534:65534:nobody:/:/bin/false',
        '',
      ].join('\n'),
    ),
    mode: 0o644,
  },
  {
    path: 'etc/group',
    data: Buffer.from(['root:x:0:', 'www-data:x:33:', ...groups, 'nogroup:x:65534:', ''].join('\n')),
    mode: 0o644,
  },
]

const replaced = new Set(['pgrep', 'ipcs'])

export function testImages({ busybox, pause, nnp }: ImagePrograms, applets: readonly string[]): TestImage[] {
  const base: readonly ImageFile[] = [
    ...['bin', 'etc', 'proc', 'sys', 'dev', 'root', 'usr', 'usr/sbin', 'var', 'var/lib', 'home'].map(
      (path) => ({
        path,
        mode: 0o755,
      }),
    ),
    { path: 'tmp', mode: 0o1777 },
    { path: 'bin/busybox', data: busybox, mode: 0o755 },
    ...applets.filter((a) => !replaced.has(a)).map((applet) => ({ path: `bin/${applet}`, link: 'busybox' })),
    executable('bin/pgrep', pgrep),
    executable('bin/ipcs', ipcs),
  ]
  const files = [...base, ...accounts([], [])]
  const command = ['sh']
  /** Images that differ in nothing but a file of their own, so that each has an identity of its own. */
  const marked = (name: string, tags: readonly string[], user?: string): TestImage => ({
    repository: `k8s-staging-cri-tools/${name}`,
    tags,
    layers: [[...files, { path: `${name}-${tags[0] ?? ''}`, data: Buffer.from(name), mode: 0o644 }]],
    command,
    ...(user === undefined ? {} : { user }),
  })
  const webServer = (repository: string, tag: string, port: number): TestImage => ({
    repository,
    tags: [tag],
    layers: [[...files, ...page, executable('usr/sbin/nginx', nginx(port))]],
    entrypoint: ['/usr/sbin/nginx', 'master process'],
  })
  return [
    { repository: 'e2e-test-images/busybox', tags: ['1.29-2'], layers: [files], command },
    webServer('e2e-test-images/nginx', '1.14-2', 80),
    webServer('k8s-staging-cri-tools/hostnet-nginx-amd64', 'latest', 12003),
    {
      repository: 'e2e-test-images/httpd',
      tags: ['2.4.39-4'],
      layers: [[...files, ...page, executable('usr/sbin/start-httpd', httpd)]],
      entrypoint: ['/usr/sbin/start-httpd'],
    },
    {
      repository: 'e2e-test-images/nonewprivs',
      tags: ['1.3'],
      layers: [[...files, { path: 'nnp', data: nnp, mode: 0o4755 }]],
      entrypoint: ['/nnp'],
    },
    {
      repository: 'pause',
      tags: ['3.9'],
      layers: [
        [
          { path: 'pause', data: pause, mode: 0o755 },
          { path: 'critest', mode: 0o755 },
        ],
      ],
      entrypoint: ['/pause'],
    },
    marked('test-image-latest', ['latest']),
    marked('test-image-tag', ['test']),
    marked('test-image-tag', ['all']),
    ...['1', '2', '3'].map((n) => marked(`test-image-${n}`, ['latest'])),
    marked('test-image-tags', ['1', '2', '3']),
    marked('test-image-user-uid', ['latest'], '1002'),
    marked('test-image-user-username', ['latest'], 'www-data'),
    marked('test-image-user-uid-group', ['latest'], '1003:users'),
    marked('test-image-user-username-group', ['latest'], 'www-data:100'),
    {
      repository: 'k8s-staging-cri-tools/test-image-predefined-group',
      tags: ['latest'],
      layers: [
        [
          ...base,
          ...accounts(
            ['default-user:x:1000:1000::/home:/bin/sh'],
            ['default-user:x:1000:', 'group-defined-in-image:x:50000:default-user'],
          ),
        ],
      ],
      command,
      user: '1000',
    },
  ]
}
