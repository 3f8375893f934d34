// Watches a directory: the kernel's notices make it quick, a slow full listing makes it sure. Survives the directory
// being removed and made again.
import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withAny } from '../../core/units/any-signal.js'
import type { FileEntry, ListOptions, WatchOptions } from '../../ports/files.js'
import { listFiles } from './list.js'

const RESCAN_MS = 20_000
/** A file that is copied appears empty and is whole a moment later. Every pod waits for it before it starts. */
const SETTLE_MS = 10
/** A missing directory's parent may be missing too, and then its creation is not notified. */
const MISSING_MS = 1_000

/** A notice that waits until it is asked for. */
class Notice {
  private raised = false
  private readonly renames = new Map<string, number>()
  private wake: (() => void) | undefined

  raise(): void {
    this.raised = true
    this.wake?.()
  }

  /**
   * A name came or went. Twice since the last listing it was free in between; a file that is moved over another one is
   * noticed once.
   */
  rename(name: string): void {
    this.renames.set(name, (this.renames.get(name) ?? 0) + 1)
  }

  takeRecreated(): ReadonlySet<string> {
    const names = [...this.renames].filter(([, times]) => times > 1).map(([name]) => name)
    this.renames.clear()
    return new Set(names)
  }

  /** Until the notice, the time or the signal. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (this.raised || signal.aborted) return
    const timer = new AbortController()
    const woken = new Promise<void>((resolve) => {
      this.wake = resolve
    })
    const time = withAny([signal, timer.signal], (stop) => sleep(ms, undefined, { signal: stop }))
    await Promise.race([woken, time.catch(() => undefined)])
    timer.abort()
    this.wake = undefined
  }

  take(): boolean {
    const was = this.raised
    this.raised = false
    return was
  }
}

/** A watch follows the inode: when the path leads to another one, it is set again. */
class PathWatch {
  private watcher: FSWatcher | undefined
  private inode: bigint | undefined

  constructor(
    private readonly path: string,
    private readonly notice: Notice,
    /** Of an entry that changed or was renamed; what it returns says whether that is news. */
    private readonly isNews: (event: 'rename' | 'change', name: string) => boolean,
  ) {}

  renew(): void {
    const inode = this.inodeNow()
    if (inode === this.inode && (this.watcher !== undefined || inode === undefined)) return
    this.close()
    this.inode = inode
    if (inode !== undefined) this.start()
  }

  /** A path that cannot be looked at is watched again once it can; the listing says what is wrong with it. */
  private inodeNow(): bigint | undefined {
    try {
      return statSync(this.path, { bigint: true, throwIfNoEntry: false })?.ino
    } catch {
      return undefined
    }
  }

  private start(): void {
    try {
      this.watcher = watch(this.path, { persistent: false }, (event, name) => {
        if (name === null || this.isNews(event, name)) this.notice.raise()
      })
      this.watcher.on('error', () => this.close())
    } catch {
      // Gone again, or out of inotify watches: the periodic listing still sees every change.
      this.watcher = undefined
    }
  }

  close(): void {
    this.watcher?.close()
    this.watcher = undefined
  }
}

const fingerprint = (files: readonly FileEntry[]): string =>
  files.map((f) => `${f.name}\0${f.size}\0${f.mtimeNanos}\0${f.inode}\0${f.unreadable ?? ''}`).join('\n')

export async function* watchDirectory(
  directory: string,
  { signal, rescanMs = RESCAN_MS, settleMs = SETTLE_MS, ...list }: WatchOptions & ListOptions,
): AsyncGenerator<readonly FileEntry[], void, undefined> {
  const notice = new Notice()
  const path = resolve(directory)
  // The parent too, for the moment when the directory appears or goes.
  const watches = [
    new PathWatch(path, notice, (event, name) => {
      if (event === 'rename') notice.rename(name)
      return true
    }),
    // A log that is written beside it is no news.
    new PathWatch(dirname(path), notice, (_, name) => name === basename(path)),
  ]
  let known: string | undefined
  let names: ReadonlySet<string> = new Set()
  try {
    while (!signal.aborted) {
      // Before the listing: a change between the two would go unnoticed until the next one.
      for (const one of watches) one.renew()
      const recreated = notice.takeRecreated()
      const listed = await listFiles(directory, list)
      const files = (listed ?? []).map((f) =>
        recreated.has(f.name) && names.has(f.name) ? { ...f, recreated: true } : f,
      )
      const print = fingerprint(files)
      names = new Set(files.map(({ name }) => name))
      if (print !== known || files.some((f) => f.recreated === true)) {
        known = print
        yield files
      }
      await notice.wait(listed === undefined ? Math.min(rescanMs, MISSING_MS) : rescanMs, signal)
      if (notice.take()) await sleep(settleMs, undefined, { signal }).catch(() => undefined)
      notice.take()
    }
  } finally {
    for (const one of watches) one.close()
  }
}
