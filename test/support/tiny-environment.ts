// A node environment with Debian's containerd and one image, for tests of the environment itself. As a program it runs
// the command line in one and says its name first, so that a test can kill it.
import { mkdtempSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeLayout } from '../../conformance/images/layout.js'
import { insideCache } from '../../conformance/node-environment/plan.js'
import { type NodeEnvironment, startEnvironment } from '../../conformance/node-environment/start.js'
import { pauseProgram } from '../../src/lab/images/programs.js'
import { mustRun } from '../../src/lab/process.js'

async function writeImages(cache: string): Promise<void> {
  const layout = join(cache, 'layout')
  await mkdir(layout, { recursive: true })
  const files = [{ path: 'pause', data: pauseProgram(), mode: 0o755 }]
  await writeLayout(layout, [
    { repository: 'pause', tags: ['3.10.2'], layers: [files], entrypoint: ['/pause'] },
  ])
  const members = ['oci-layout', 'index.json', 'blobs']
  await mustRun(['tar', '-C', layout, '-cf', join(cache, 'images.tar'), ...members])
}

export async function startTinyEnvironment(
  argv: readonly string[],
  onOutput: (text: string) => void,
): Promise<NodeEnvironment> {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-node-'))
  const cache = join(directory, 'cache')
  await writeImages(cache)
  return await startEnvironment({
    directory,
    cache,
    runtime: 'containerd-1.6',
    programs: {
      kind: 'containerd',
      containerd: '/usr/bin/containerd',
      ctr: '/usr/bin/ctr',
      runc: '/usr/sbin/runc',
      shims: '/usr/bin',
    },
    imageLayout: join(insideCache, 'layout'),
    imageArchive: join(insideCache, 'images.tar'),
    systemdStandIns: false,
    argv,
    cwd: '/',
    env: {},
    onOutput,
  })
}

if (process.argv[1] === import.meta.filename) {
  const environment = await startTinyEnvironment(process.argv.slice(2), (t) => process.stdout.write(t))
  process.stdout.write(`${environment.name} ${environment.directory}\n`)
  await environment.ended
}
