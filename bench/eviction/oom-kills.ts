// Whom the kernel's OOM killer killed, by the kernel's own log: the uid of the pod that the killed process was in.
import { spawn } from 'node:child_process'

export class OomKills {
  private uids: string[] = []

  constructor() {
    // Old lines come first; they are forgotten with the first run.
    const log = spawn('cat', ['/dev/kmsg'], { stdio: ['ignore', 'pipe', 'ignore'] })
    let rest = ''
    log.stdout.on('data', (data: Buffer) => {
      const lines = (rest + data.toString('latin1')).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const found = /oom-kill:.*task_memcg=([^,]*),task=([^,]*)/.exec(line)
        if (found !== null) this.uids.push(/\/pod([^/]+)/.exec(found[1] ?? '')?.[1] ?? `process ${found[2]}`)
      }
    })
  }

  forget(): void {
    this.uids = []
  }

  list(): readonly string[] {
    return this.uids
  }
}
