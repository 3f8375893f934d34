// A terminal that somebody looks at: its size, keys as bytes, and text with escape sequences.

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

export interface Terminal {
  size(): TerminalSize
  write(text: string): void
  /** Told of each change. The result takes the listener away again. */
  onResize(listener: () => void): () => void
  onInput(listener: (text: string) => void): () => void
  /** Gives the terminal back as it was. */
  close(): void
}
