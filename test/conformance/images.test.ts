// The suites' images and the registry that serves them: names, sharing of layers, digests, credentials.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { configure } from '../../conformance/images/busybox.js'
import { missingForImages } from '../../conformance/images/ensure-images.js'
import { parseLdd } from '../../conformance/images/files.js'
import { readLayout, writeLayout } from '../../conformance/images/layout.js'
import { protectedRepository } from '../../conformance/images/protected-repository.js'
import { packImages, parsePath, startRegistry } from '../../conformance/images/registry.js'
import type { TestImage } from '../../conformance/images/test-image.js'

const dir = mkdtempSync(join(tmpdir(), 'keelson-images-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe('registry', () => {
  for (const [path, key] of [
    ['/v2/e2e-test-images/busybox/manifests/1.29-2', 'manifests/e2e-test-images/busybox/1.29-2'],
    ['/v2/pause/blobs/sha256:ab', 'blobs/sha256:ab'],
    ['/v2/pause/tags/list', undefined],
    ['/v2/../etc/passwd', undefined],
  ] as const)
    test(`key of ${path}`, () => {
      expect(parsePath(path)?.key).toBe(key)
    })

  test('serves what a pull asks for, under the digests it promises', async () => {
    const images = [{ repository: 'a/b', tags: ['1'], layers: [[{ path: 'x', mode: 0o755 }]], user: '1002' }]
    const registry = await startRegistry(await packImages(images))
    try {
      const get = async (path: string, method = 'GET') => await fetch(`${registry.url}${path}`, { method })
      const digestOf = (data: ArrayBuffer) =>
        `sha256:${createHash('sha256').update(new Uint8Array(data)).digest('hex')}`
      expect((await get('/v2/')).status).toBe(200)
      const head = await get('/v2/a/b/manifests/1', 'HEAD')
      const digest = head.headers.get('docker-content-digest') ?? ''
      const data = await (await get(`/v2/a/b/manifests/${digest}?ns=registry.k8s.io`)).arrayBuffer()
      expect(digestOf(data)).toBe(digest)
      const { config, layers } = JSON.parse(Buffer.from(data).toString()) as {
        readonly config: { readonly digest: string }
        readonly layers: readonly { readonly digest: string; readonly size: number }[]
      }
      const blob = await (await get(`/v2/a/b/blobs/${config.digest}`)).text()
      expect(JSON.parse(blob)).toMatchObject({
        config: { User: '1002' },
        rootfs: { diff_ids: [layers[0]?.digest] },
      })
      const layer = await (await get(`/v2/a/b/blobs/${layers[0]?.digest}`)).arrayBuffer()
      expect([layer.byteLength, digestOf(layer)]).toEqual([layers[0]?.size, layers[0]?.digest])
      expect((await get('/v2/a/b/manifests/2')).status).toBe(404)
      expect((await get('/v2/a/b/manifests/1', 'PUT')).status).toBe(404)
    } finally {
      await registry.close()
    }
  })
})

describe('a layout on disk', () => {
  const base = [{ path: 'base', data: Buffer.alloc(1000, 'b'), mode: 0o644 }]
  const images: TestImage[] = [
    { repository: 'e2e-test-images/one', tags: ['1', '2'], layers: [base] },
    {
      repository: protectedRepository.repository,
      tags: ['2.6'],
      layers: [base, [{ path: 'own', mode: 0o755 }]],
    },
  ]

  test('is served file by file, and a protected repository asks for credentials', async () => {
    const layout = join(dir, 'layout')
    await writeLayout(layout, images)
    const registry = await startRegistry(await readLayout(layout), {
      protectedRepositories: [protectedRepository],
    })
    const { repository, user, password } = protectedRepository
    const status = async (path: string, authorization = ''): Promise<number> => {
      const response = await fetch(`${registry.url}${path}`, { headers: { authorization } })
      await response.arrayBuffer()
      return response.status
    }
    const basic = (words: string): string => `Basic ${Buffer.from(words).toString('base64')}`
    try {
      const open = await fetch(`${registry.url}/v2/e2e-test-images/one/manifests/2?ns=registry.k8s.io`)
      const manifest = (await open.json()) as { layers: { digest: string; size: number }[] }
      const layer = manifest.layers[0]
      const blob = await fetch(`${registry.url}/v2/e2e-test-images/one/blobs/${layer?.digest}`)
      expect((await blob.arrayBuffer()).byteLength).toBe(layer?.size)
      expect(await status('/v2/invalid/alpine/manifests/3.1?ns=invalid.registry.k8s.io')).toBe(404)
      const guarded = `/v2/${repository}/manifests/2.6`
      expect(await status(guarded)).toBe(401)
      expect(await status(`/v2/${repository}/blobs/${layer?.digest}`)).toBe(401)
      expect(await status(guarded, basic(`${user}:wrong`))).toBe(401)
      expect(await status(guarded, basic(`${user}:${password}`))).toBe(200)
    } finally {
      await registry.close()
    }
  })

  test('images with the same base share its layer', async () => {
    const content = await packImages(images)
    const blobs = [...content.keys()].filter((k) => k.startsWith('blobs/'))
    expect(blobs.length).toBe(4) // two configs, the base once, one layer of its own
  })
})

test('what is missing for the images is said by name', () => {
  expect(missingForImages(() => '/bin/x')).toBeUndefined()
  expect(missingForImages((c) => (c === 'gcc' ? undefined : '/bin/x'))).toContain('gcc')
})

test('a library that is nowhere is named', () => {
  const found = 'linux-vdso.so.1 (0x1)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x2)\n'
  expect([...parseLdd(found)]).toEqual([['libc.so.6', '/lib/x86_64-linux-gnu/libc.so.6']])
  expect(() => parseLdd(`${found}\tlibuv.so.1 => not found\n`)).toThrow('libuv.so.1')
})

test('busybox is configured without a question left', () => {
  const config = 'CONFIG_A=y\n# CONFIG_STATIC is not set\nCONFIG_TC=y\nCONFIG_TC_INGRESS=y\n'
  expect(configure(config, { CONFIG_STATIC: 'y', CONFIG_TC: 'n' })).toBe(
    'CONFIG_A=y\nCONFIG_TC_INGRESS=y\nCONFIG_STATIC=y\n# CONFIG_TC is not set\n',
  )
})
