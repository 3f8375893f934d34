// The built dashboard: a few files, held in memory.

export interface PageFile {
  readonly type: string
  readonly body: Uint8Array
  /** The same, compressed when it was built. */
  readonly gzip: Uint8Array
  /** Changes with the content. */
  readonly tag: string
}

/** By name: `index.html`, `app.js`, `app.css`. */
export type PageFiles = ReadonlyMap<string, PageFile>
