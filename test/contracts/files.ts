// What every Files does, in memory or on disk.
import { describe, expect, test } from 'vitest'
import type { FileEntry, Files } from '../../src/ports/files.js'

export interface FilesSubject {
  readonly files: Files
  /** An empty directory, absolute. */
  readonly dir: string
  makeDirectory(path: string): void
  removeDirectory(path: string): void
  close(): void
}

const text = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : new TextDecoder().decode(bytes)

export function filesContract(name: string, create: () => FilesSubject): void {
  const withSubject = (work: (subject: FilesSubject) => Promise<void>) => async () => {
    const subject = create()
    await work(subject).finally(() => subject.close())
  }

  describe(`contract: ${name}`, () => {
    test(
      'read, replace, remove',
      withSubject(async ({ files, dir }) => {
        expect(await files.read(`${dir}/a`, 10)).toBeUndefined()
        await files.replace(`${dir}/a`, 'one')
        await files.replace(`${dir}/a`, new TextEncoder().encode('two'))
        expect(text(await files.read(`${dir}/a`, 3))).toBe('two')
        await expect(files.read(`${dir}/a`, 2)).rejects.toMatchObject({ code: 'input.too-large' })
        await expect(files.read(dir, 10)).rejects.toMatchObject({ code: 'input.unreadable' })
        await expect(files.replace(`${dir}/none/a`, 'x')).rejects.toMatchObject({ code: 'file.write-failed' })
        await files.remove(`${dir}/a`)
        await files.remove(`${dir}/a`)
        expect(await files.read(`${dir}/a`, 10)).toBeUndefined()
      }),
    )

    test(
      'list: order, suffix, depth, bound, absence',
      withSubject(async ({ files, dir, makeDirectory }) => {
        makeDirectory(`${dir}/c`)
        makeDirectory(`${dir}/z`)
        for (const file of ['b.conf', 'B.conf', 'a.txt', 'z/c.conf', 'c/a.conf', 'c.conf'])
          await files.replace(`${dir}/${file}`, file)
        const names = async (options: object) => (await files.list(dir, options))?.map((f) => f.name)
        expect(await names({})).toEqual(['B.conf', 'a.txt', 'b.conf', 'c.conf'])
        expect(await names({ recursive: true, suffix: '.conf' })).toEqual([
          'B.conf',
          'b.conf',
          'c/a.conf',
          'c.conf',
          'z/c.conf',
        ])
        await expect(files.list(dir, { maxEntries: 1 })).rejects.toMatchObject({ code: 'input.too-large' })
        expect(await files.list(`${dir}/none`)).toBeUndefined()
      }),
    )

    test(
      'watch: the listing now and after each change, over the life of the directory, until the signal',
      withSubject(async ({ files, dir, makeDirectory, removeDirectory }) => {
        const stop = new AbortController()
        const inner = `${dir}/manifests`
        const iterator = files.watch(inner, { signal: stop.signal, settleMs: 40 })[Symbol.asyncIterator]()
        const next = async () => (await iterator.next()).value?.map((f: FileEntry) => f.name)
        expect(await next()).toEqual([])
        makeDirectory(inner)
        await files.replace(`${inner}/a`, '1')
        expect(await next()).toEqual(['a'])
        await files.replace(`${inner}/a`, '2')
        expect(await next()).toEqual(['a'])
        removeDirectory(inner)
        expect(await next()).toEqual([])
        makeDirectory(inner)
        await files.replace(`${inner}/b`, '1')
        expect(await next()).toEqual(['b'])
        stop.abort()
        expect(await iterator.next()).toEqual({ value: undefined, done: true })
      }),
    )
  })
}
