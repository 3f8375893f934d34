// The manifests of `keelson up --pods` are judged as the kubelet judges them, before anything is started.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createProgress } from '../../up/progress.js'
import { missingImages, readPodsDirectory, reportManifests } from './manifests.js'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-up-manifests-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const pod = (name: string, image = 'keelson.local/busybox:1'): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name} }\nspec:\n  containers:\n    - { name: main, image: "${image}" }\n`

async function read(files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text)
  const manifests = await readPodsDirectory(dir)
  let said = ''
  const progress = createProgress({ write: (t) => (said += t), startedMs: 0, nowMs: () => 0 })
  reportManifests(dir, manifests, missingImages(manifests), progress)
  return { manifests, said }
}

test('a manifest that the kubelet refuses is told by file and line with every problem, before the start', async () => {
  const bad = `${pod('bad')}      livenessProbe: {}\n`.replace(
    '{ name: main, image: "keelson.local/busybox:1" }\n      livenessProbe: {}',
    'name: main\n      image: i\n      livenessProbe: { exec: {} }\n      envFrom: [{}]\n  foo: 1',
  )
  const { manifests, said } = await read({ 'a.yaml': pod('good'), 'bad.yaml': bad, 'notes.txt': 'x' })
  expect(manifests.map((m) => [m.file, m.pods.map((p) => p.name)])).toEqual([
    ['a.yaml', ['good']],
    ['bad.yaml', []],
  ])
  expect(said).toMatch(/refused +\S+\/bad\.yaml: see below; the other manifests are used\n/)
  for (const [line, field] of [
    [8, 'livenessProbe.exec.command'],
    [9, 'envFrom'],
    [10, 'foo'],
  ] as const)
    expect(said).toMatch(new RegExp(`^ +\\S+/bad\\.yaml:${line}: \\S*${field}: `, 'm'))
})

test('an image that the lab cannot have is told before the start, by name, with the reason and the remedy', async () => {
  const { said } = await read({
    'a.yaml': pod('good'),
    'b.yaml': pod('web', 'nginx:1.27'),
    'c.yaml': pod('new', 'nginx'),
  })
  expect(said).toMatch(/image +image nginx:1\.27 is not available: the lab has no network/)
  expect(said).toMatch(/available: keelson\.local\/busybox:1, .*and the images of --image-tar\n/)
  expect(said).toMatch(/docker save nginx:1\.27 -o image\.tar\n/)
  expect(said).toMatch(/image nginx is not available: .*\n +imagePullPolicy is Always.*set IfNotPresent\n/)
  expect(said).not.toMatch(/image keelson\.local/)
})

test('text that is no YAML, a kind without pods, an empty file, a directory', async () => {
  await mkdir(join(dir, 'd.yaml'))
  const { manifests, said } = await read({ 'a.yaml': 'kind: [', 'b.json': '{"kind":"Service"}', 'c.yml': '' })
  expect(manifests.map((m) => m.pods)).toEqual([[], [], [], []])
  expect(said).toMatch(/parse \S+\/a\.yaml:1: /)
  expect(said).toMatch(/\/b\.json:1: Service is not a Pod/)
  expect(said).toMatch(/c\.yml: it is empty/)
  expect(said).toMatch(/d\.yaml: it is a directory/)
})

test('a name that is taken is said where it stands the second time', async () => {
  const { manifests, said } = await read({ 'a.yaml': pod('web'), 'b.yaml': `${pod('web')}---\n${pod('db')}` })
  expect(manifests.map((m) => m.pods.map((p) => p.name))).toEqual([['web'], ['db']])
  expect(said).toMatch(/b\.yaml: pod default\/web is already defined in a\.yaml/)
})

test('no directory, and one without manifests', async () => {
  await expect(readPodsDirectory(join(dir, 'none'))).rejects.toThrow(
    /read --pods .*none: .*; name a directory/,
  )
  expect((await read({})).said).toMatch(/has no \*\.yaml, .*starts without pods/)
})
