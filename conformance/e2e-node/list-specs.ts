// All specs of the suite's binary, by a dry run of it; kept beside the binary.
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { runCommand } from '../process.js'
import { type ListedSpec, parseList } from './specs.js'

const DRY_RUN_MS = 120_000

export async function listSpecs(binary: string, directory: string): Promise<ListedSpec[]> {
  const kept = join(dirname(binary), 'specs-2.json')
  if (existsSync(kept)) return JSON.parse(await readFile(kept, 'utf8')) as ListedSpec[]
  // The suite writes into the directory that it is started in.
  const scratch = join(directory, 'list')
  await mkdir(scratch, { recursive: true })
  const link = join(scratch, basename(binary))
  await symlink(binary, link)
  const report = join(scratch, 'list.json')
  await runCommand(link, ['--ginkgo.dry-run', `--ginkgo.json-report=${report}`], {
    cwd: scratch,
    timeoutMs: DRY_RUN_MS,
  })
  const specs = parseList(await readFile(report, 'utf8'))
  await writeFile(`${kept}.${process.pid}`, JSON.stringify(specs))
  await rename(`${kept}.${process.pid}`, kept)
  return specs
}
