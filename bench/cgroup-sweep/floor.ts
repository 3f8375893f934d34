// The C program beside: compiled into a temporary folder, then spoken to over its standard input and output.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'

export function compileSweep(folder: string): string {
  const binary = join(folder, 'sweep')
  execFileSync('gcc', ['-O2', '-o', binary, join(import.meta.dirname, 'sweep.c')], { stdio: 'inherit' })
  return binary
}

export class LineProcess {
  private readonly child: ChildProcess
  private readonly lines: AsyncIterator<string>
  private readonly reader: Interface

  constructor(binary: string, args: readonly string[]) {
    this.child = spawn(binary, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    if (this.child.stdout === null) throw new Error('no output of the child')
    this.reader = createInterface({ input: this.child.stdout })
    this.lines = this.reader[Symbol.asyncIterator]()
  }

  send(text: string): void {
    this.child.stdin?.write(text)
  }

  async next(): Promise<string> {
    const { value, done } = await this.lines.next()
    if (done) throw new Error(`the C program ended early (status ${this.child.exitCode})`)
    return value
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const exited = once(this.child, 'exit')
    this.child.stdin?.end()
    await exited
    this.reader.close()
  }
}
