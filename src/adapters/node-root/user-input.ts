// Files that the user names on the command line: bounded, text only, with the path in every error.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isKeelsonError, keelsonError, messageOf } from '../../core/errors.js'
import type { NodePorts } from '../../ports/bootstrap.js'

const largestFile = 1024 * 1024
const mostFiles = 1_000

async function read(path: string): Promise<string> {
  try {
    const found = await stat(path)
    if (!found.isFile()) throw new Error('it is not a file')
    if (found.size > largestFile)
      throw keelsonError('input.too-large', `read ${path}: larger than ${largestFile} bytes`, { path })
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
  } catch (e) {
    if (isKeelsonError(e)) throw e
    if (e instanceof TypeError)
      throw keelsonError('input.not-text', `read ${path}: it is not UTF-8 text`, { path }, e)
    const why = messageOf(e)
    throw keelsonError('input.unreadable', `read ${path}: ${why}`, { path }, e)
  }
}

async function names(directory: string, below = ''): Promise<string[]> {
  const entries = await readdir(join(directory, below), { withFileTypes: true })
  const sorted = entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  const found: string[] = []
  for (const entry of sorted) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) found.push(...(await names(directory, name)))
    else found.push(name)
    if (found.length > mostFiles)
      throw keelsonError('input.too-large', `list ${directory}: more than ${mostFiles} files`, { directory })
  }
  return found
}

async function walk(path: string): Promise<{ name: string; text: string }[]> {
  let list: string[]
  try {
    if (!(await stat(path)).isDirectory()) throw new Error('it is not a directory')
    list = await names(path)
  } catch (e) {
    if (isKeelsonError(e)) throw e
    const why = messageOf(e)
    throw keelsonError('input.unreadable', `list ${path}: ${why}`, { path }, e)
  }
  const files: { name: string; text: string }[] = []
  for (const name of list) files.push({ name, text: await read(join(path, name)) })
  return files
}

export const userInput: NodePorts['input'] = { read, walk }
