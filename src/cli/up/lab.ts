// `keelson up` in the lab: boots the machine and runs the same command inside it, with a port that leads in.
import { mkdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from '../../lab/cache.js'
import { mustRun } from '../../lab/process.js'
import { labRequest, runLab } from '../../lab/run-machine.js'
import type { Io } from '../io.js'
import { ownCommand } from './parts.js'

/** How the command in the lab knows what its parent knows. */
export interface Inside {
  readonly access: string
  readonly port: number
  readonly startedMs: number
  readonly installingSeconds: number
  readonly command: string
  readonly background: boolean
  readonly imagesReported: boolean
}

interface LabOptions {
  readonly runDir: string
  /** What the machine shares with this host: token, certificate, logs. */
  readonly access: string
  readonly port: number
  readonly memoryMiB: number
  readonly startedMs: number
  readonly installingSeconds: number
  /** How a person starts this program. */
  readonly command: string
  readonly background: boolean
  /** The person knows already which images of the manifests are missing. */
  readonly imagesReported: boolean
  /** Flags of the command that mean the same inside. */
  readonly flags: readonly string[]
}

/** The default port of the kubelet; it is free in the machine. */
export const guestPort = 10250
/** As long as a person may want to look; the machine needs some bound. */
const longestS = 20 * 24 * 3600

/** Files of pods lie on a disk: everything else in the machine is memory. */
const diskBytes = 512 * 1024 * 1024

async function makeDisk(file: string, signal: AbortSignal): Promise<string> {
  await writeFile(file, '')
  await truncate(file, diskBytes)
  await mustRun(['mkfs.ext4', '-q', '-F', file], { signal })
  return file
}

/** The exit status of the command inside; 0 where it was stopped. */
export async function runInLab(o: LabOptions, io: Io, signal: AbortSignal): Promise<number> {
  const { access } = o
  await mkdir(access, { mode: 0o700 })
  const disk = await makeDisk(join(o.runDir, 'disk.img'), signal)
  const outcome = await runLab(
    labRequest({
      argv: [
        ...ownCommand(),
        'up',
        '--inside',
        JSON.stringify({
          access,
          port: o.port,
          startedMs: o.startedMs,
          installingSeconds: o.installingSeconds,
          command: o.command,
          background: o.background,
          imagesReported: o.imagesReported,
        } satisfies Inside),
        ...o.flags,
      ],
      containerd: {},
      disks: [disk],
      memoryMiB: o.memoryMiB,
      forward: { hostPort: o.port, guestPort },
      out: access,
      cacheDir: cacheDirectory(io.env),
      timeoutS: longestS,
    }),
    io.stdout === process.stdout
      ? { stdout: 'inherit', stderr: 'inherit' }
      : { stdout: io.stdout as NodeJS.WritableStream, stderr: io.stderr as NodeJS.WritableStream },
    signal,
  )
  return outcome.kind === 'exit' ? outcome.code : 0
}
