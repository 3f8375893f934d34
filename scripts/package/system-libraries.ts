// The C and C++ libraries that Node's binary is linked to, for the image: those of the machine that builds it, with the Debian
// packages they are from. The image has nothing else of an operating system, no shell and no package manager.
import { existsSync, readFileSync } from 'node:fs'
import { mustRun, runProgram } from '../../src/lab/process.js'
import type { TreeFile } from './program-files.js'
import type { Component } from './sbom.js'

export interface SystemLibraries {
  readonly files: readonly TreeFile[]
  readonly components: readonly Component[]
}

/** `libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x7f)` and the loader, `/lib64/ld-linux-x86-64.so.2 (0x7f)`. */
export const parseLdd = (text: string): string[] =>
  [...text.matchAll(/^\s+(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)$/gm)].map((m) => m[1] ?? '')

interface Owner {
  readonly package: string
  readonly version: string
}

/** Undefined where this is not Debian. A merged /usr makes the same file known under either name. */
async function ownerOf(path: string, signal: AbortSignal): Promise<Owner | undefined> {
  for (const name of [path, `/usr${path}`, path.replace(/^\/lib64\//, '/lib/x86_64-linux-gnu/')]) {
    const found = await runProgram(['dpkg-query', '-S', name], { signal }).catch(() => undefined)
    const owner = found?.code === 0 ? /^([^:\s]+)/.exec(found.output)?.[1] : undefined
    if (owner === undefined) continue
    const version = await mustRun(['dpkg-query', '-W', '-f', '$' + '{Version}', `${owner}:amd64`], { signal })
    return { package: owner, version: version.trim() }
  }
  return undefined
}

function copyrightOf(name: string): TreeFile[] {
  const path = `usr/share/doc/${name}/copyright`
  return existsSync(`/${path}`) ? [{ path, data: readFileSync(`/${path}`), mode: 0o644 }] : []
}

export async function systemLibraries(binary: string, signal: AbortSignal): Promise<SystemLibraries> {
  const paths = parseLdd(await mustRun(['ldd', binary], { signal }))
  if (paths.length === 0) throw new Error(`ldd ${binary}: no library was found`)
  const found = await Promise.all(paths.map((path) => ownerOf(path, signal)))
  const owners = [
    ...new Map(found.flatMap((o) => (o === undefined ? [] : [[o.package, o] as const]))).values(),
  ]
  return {
    files: [
      ...paths.map((path) => ({ path: path.slice(1), data: readFileSync(path), mode: 0o755 })),
      ...owners.flatMap((o) => copyrightOf(o.package)),
    ],
    components: owners.map((o) => ({
      name: o.package,
      version: o.version,
      purl: `pkg:deb/debian/${encodeURIComponent(o.package)}@${encodeURIComponent(o.version)}?arch=amd64`,
    })),
  }
}
