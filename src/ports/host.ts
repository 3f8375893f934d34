// What Keelson asks about the machine as a whole, apart from its kernel files.

export interface Host {
  readonly os: 'linux' | 'windows'
  /** Whether systemd is the first process here, by its own sign: the directory /run/systemd/system. */
  hasSystemd(): boolean
  hostname(): string
  /** Of this process, -1000 to 1000; throws where it is not allowed to. */
  setOomScoreAdj(value: number): void
}
