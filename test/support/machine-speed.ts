// What "a core" means: shares of a processor in the documents are of one machine, and a slower one takes more of its own.
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Processor time of the piece of work below on the machine that the documents' values are of, in ms. */
const referenceMs = 90
const files = 100
const rounds = 50

const text = Array.from({ length: 40 }, (_, i) => `name_of_value_${i} ${i * 4096}`).join('\n')

/** What a look at cgroups is made of: small files that are open, their text, numbers, a text again. */
function look(descriptors: readonly number[], buffer: Buffer): number {
  let length = 0
  for (const descriptor of descriptors) {
    const read = readSync(descriptor, buffer, 0, buffer.length, 0)
    const values = new Map(
      buffer
        .toString('latin1', 0, read)
        .split('\n')
        .map((line): [string, number] => {
          const [name = '', value] = line.split(' ')
          return [name, Number(value)]
        }),
    )
    length += JSON.stringify([...values]).length
  }
  return length
}

/** How many times slower than the reference this machine is now; at least 1. */
export function slowness(): number {
  const directory = mkdtempSync('/dev/shm/keelson-speed-')
  const descriptors = Array.from({ length: files }, (_, i) => {
    const path = join(directory, String(i))
    writeFileSync(path, text)
    return openSync(path, 'r')
  })
  const buffer = Buffer.alloc(4096)
  const turn = (): number => {
    const before = process.cpuUsage()
    for (let i = 0; i < rounds; i++) look(descriptors, buffer)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  // The first ones are those of a compiler.
  const taken = Array.from({ length: 6 }, turn).slice(1)
  for (const descriptor of descriptors) closeSync(descriptor)
  rmSync(directory, { recursive: true })
  return Math.max(1, Math.min(...taken) / referenceMs)
}
