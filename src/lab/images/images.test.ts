import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { extract } from 'tar-stream'
import { afterAll, expect, test } from 'vitest'
import { requires } from '../../../test/support/requirements.js'
import { writeImageArchive } from './archive.js'
import { ensureImages, imageReferences } from './images.js'
import { hogProgram, pauseProgram } from './programs.js'

const dir = mkdtempSync(join(tmpdir(), 'keelson-images-test-'))
afterAll(() => rmSync(dir, { recursive: true }))

function program(name: string, bytes: Buffer): string {
  const file = join(dir, name)
  writeFileSync(file, bytes, { mode: 0o755 })
  return file
}

async function entriesOf(path: string): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>()
  const tar = createReadStream(path).pipe(extract())
  for await (const entry of tar) {
    const chunks: Buffer[] = []
    for await (const chunk of entry) chunks.push(chunk as Buffer)
    found.set(entry.header.name, Buffer.concat(chunks))
  }
  return found
}

const statusOf = (pid: number | undefined): string => readFileSync(`/proc/${pid}/status`, 'utf8')

// Either may be the cc of a machine.
for (const [signal, compiler] of [
  ['SIGTERM', 'gcc'],
  ['SIGINT', 'gcc'],
  ['SIGTERM', 'tcc'],
] as const)
  test(`pause, compiled by ${compiler}: waits and ends with 0 on ${signal}`, async (ctx) => {
    requires(ctx, { commands: [compiler] })
    const child = spawn(program(`pause-${signal}-${compiler}`, pauseProgram(compiler)))
    // It sleeps when its handlers (SIGINT, SIGTERM) and what it ignores (SIGCHLD) are set.
    await expect
      .poll(() => statusOf(child.pid))
      .toMatch(/^State:\tS .*^SigIgn:\t0*10000$.*^SigCgt:\t0*4002$/ms)
    assert.equal(child.exitCode, null)
    child.kill(signal)
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

for (const compiler of ['gcc', 'tcc'] as const)
  test(`hog, compiled by ${compiler}: holds the memory it was told to, pass after pass, and ends on SIGTERM`, async (ctx) => {
    requires(ctx, { commands: [compiler] })
    const child = spawn(program(`hog-${compiler}`, hogProgram(compiler)), ['24', '20'])
    let lines = 0
    child.stdout.on('data', (d: Buffer) => {
      lines += d.toString().split('\n').length - 1
    })
    await expect.poll(() => lines).toBeGreaterThanOrEqual(3)
    const rss = /VmRSS:\s+(\d+) kB/.exec(statusOf(child.pid))?.[1]
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
    // The kernel counts in batches for each processor: VmRSS is a little off.
    assert.ok(Number(rss) >= 23 * 1024 && Number(rss) < 26 * 1024, `${rss} kB`)
  })

for (const [args, status] of [
  [[], 2],
  [['0'], 2],
  [['99999999999'], 1],
] as const)
  test(`hog ${args.join(' ')}: status ${status}`, (ctx) => {
    requires(ctx, { packages: ['images'] })
    const run = spawnSync(program(`hog-${args.join('-')}`, hogProgram()), args, { timeout: 5000 })
    assert.equal(run.status, status)
  })

test('writeImageArchive: digests match, equal layers are stored once, same input gives the same bytes', async () => {
  const files = [{ path: 'a', data: Buffer.from('x'), mode: 0o644 }]
  const images = ['k/one:1', 'k/two:1'].map((reference) => ({ reference, files, entrypoint: ['/a'] }))
  const [first, second] = [join(dir, 'a.tar'), join(dir, 'b.tar')]
  await writeImageArchive(first, images)
  await writeImageArchive(second, images)
  assert.deepEqual(readFileSync(first), readFileSync(second))
  const entries = await entriesOf(first)
  const manifest = JSON.parse(entries.get('manifest.json')?.toString() ?? '') as {
    Config: string
    RepoTags: string[]
    Layers: string[]
  }[]
  assert.deepEqual(
    manifest.map((m) => m.RepoTags),
    [['k/one:1'], ['k/two:1']],
  )
  assert.equal(new Set(manifest.flatMap((m) => m.Layers)).size, 1)
  for (const [name, data] of entries)
    if (name.startsWith('blobs/sha256/'))
      assert.equal(name, `blobs/sha256/${createHash('sha256').update(data).digest('hex')}`)
  const index = JSON.parse(entries.get('index.json')?.toString() ?? '') as {
    manifests: { digest: string; annotations: Record<string, string> }[]
  }
  assert.deepEqual(
    index.manifests.map((m) => m.annotations['io.containerd.image.name']),
    ['k/one:1', 'k/two:1'],
  )
  for (const { digest } of index.manifests) assert.ok(entries.has(`blobs/${digest.replace(':', '/')}`))
  for (const { Config, Layers } of manifest) {
    const layer = entries.get(Layers[0] ?? '') ?? Buffer.alloc(0)
    const config = JSON.parse(entries.get(Config)?.toString() ?? '') as { rootfs: { diff_ids: string[] } }
    const digest = createHash('sha256').update(layer).digest('hex')
    assert.deepEqual(config.rootfs.diff_ids, [`sha256:${digest}`])
  }
})

test('ensureImages: one archive with every image', async (ctx) => {
  requires(ctx, { packages: ['images'] })
  const path = await ensureImages(join(dir, 'cache'), new AbortController().signal)
  const entries = await entriesOf(path)
  const manifest = JSON.parse(entries.get('manifest.json')?.toString() ?? '') as { RepoTags: string[] }[]
  assert.deepEqual(manifest.flatMap((m) => m.RepoTags).sort(), Object.values(imageReferences).sort())
})
