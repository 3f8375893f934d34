// An interactive terminal: its size, keys as bytes, and text with escape sequences.

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

export interface Terminal {
  size(): TerminalSize
  write(text: string): void
  /** Called on each change. Returns the unsubscribe function. */
  onResize(listener: () => void): () => void
  onInput(listener: (text: string) => void): () => void
  /** Gives the terminal back as it was. */
  close(): void
}
