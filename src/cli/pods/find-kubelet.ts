// Which kubelet a command talks to: the one that its flags name, else a running `keelson up` of this user, else the one of
// this machine.
import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { keelsonError } from '../../core/errors.js'
import { defaultRootDir } from '../../kubelet/serve-settings.js'
import { findRunning, isReady, type RunningUp, upDirectory } from '../up/running.js'

export interface ReachOptions {
  readonly server?: string
  readonly rootDir?: string
  readonly tokenFile?: string
  readonly certificate?: string
}

interface KubeletPlace {
  readonly server: string
  readonly rootDir: string
}

export const defaultServer = 'https://127.0.0.1:10250'

/** The options by which every command of pods finds its kubelet. */
export const withReach = (command: Command): Command =>
  command
    .option('--server <url>', `URL of the kubelet (default: a running keelson up, else ${defaultServer})`)
    .option(
      '--root-dir <path>',
      `--root-dir of the kubelet, with its token and certificate (default: a running keelson up, else ${defaultRootDir})`,
    )
    .option('--token-file <path>', 'read the token from this file instead')
    .option('--certificate <path>', 'certificate of the server, or its CA')

const urlOf = ({ port }: RunningUp): string => `https://127.0.0.1:${port}`

/** `running` is looked up here, and given by tests. */
export function findKubelet(
  { server, rootDir, tokenFile }: ReachOptions,
  running: RunningUp | undefined = findRunning(),
): KubeletPlace {
  const isNamed = server !== undefined || rootDir !== undefined || tokenFile !== undefined
  if (running !== undefined && (!isNamed || rootDir === running.rootDir)) {
    if (!existsSync(`${running.rootDir}/pki/kubelet.crt`)) throw starting(running)
    return { server: server ?? urlOf(running), rootDir: running.rootDir }
  }
  return { server: server ?? defaultServer, rootDir: rootDir ?? defaultRootDir }
}

const starting = (running: RunningUp): Error =>
  keelsonError(
    'kubelet.unreachable',
    `the node of keelson up (process ${running.pid}) is still starting; keelson up status shows when it is ready`,
    { pid: running.pid, ready: isReady(running) },
  )

/** Why a node may not be found although one runs: `sudo keelson up` belongs to root. */
export const rootsNodeHint = (): string =>
  process.getuid?.() !== 0 && existsSync(upDirectory(0)) ? '; keelson up of root is running: use sudo' : ''
