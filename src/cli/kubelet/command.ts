// `keelson kubelet`: the upstream kubelet's command line, read by our own flag parser, and one life of the process
// from start to signal.
import { once } from 'node:events'
import { Command } from 'commander'
import { createFiles } from '../../adapters/files/files.js'
import { createLog } from '../../adapters/log/log.js'
import { splitFlags } from '../../config/flag-words.js'
import { asKeelsonError } from '../../core/errors.js'
import { formatKubeletVersion } from '../../core/release/version-line.js'
import type { KubeletPorts } from '../../kubelet/kubelet-ports.js'
import { type KubeletConfigFiles, readKubeletConfig, readRelease } from '../../kubelet/read-config.js'
import { startKubelet } from '../../kubelet/start.js'
import type { RunningCri } from '../cri/run-server.js'
import { exitStatus } from '../exit-status.js'
import type { Io } from '../io.js'
import { untilSignal } from '../process/signals.js'
import { keepHeapSmall } from '../process/small-heap.js'
import { version } from '../version.js'
import { answerWatchdog } from '../watchdog.js'
import { formatKubeletHelp } from './help.js'
import { createKubeletPorts } from './wire.js'

/** klog's convention: 4 is debugging. */
const debugVerbosity = 4

export const create = (io: Io): Command =>
  new Command('kubelet')
    .description('run the node agent, with the flags and files of the upstream kubelet; --help lists them')
    .allowUnknownOption()
    .allowExcessArguments()
    .helpOption(false)
    .action(async (_options: unknown, command: Command) => {
      const asked = new Set(splitFlags(command.args).words.map((w) => w.name))
      if (asked.has('help')) io.stdout.write(formatKubeletHelp())
      else if (asked.has('version')) {
        const release = await readRelease(command.args, createFiles())
        io.stdout.write(`${formatKubeletVersion(release, version)}\n`)
      } else await runKubelet(command.args, io)
    })

async function runKubelet(argv: readonly string[], io: Io): Promise<void> {
  keepHeapSmall()
  const config = await readKubeletConfig(argv, io.env, createFiles())
  const { format, verbosity } = config.loaded.config.kubelet.logging
  const log = createLog({
    format,
    level: verbosity >= debugVerbosity ? 'debug' : 'info',
    write: (line) => io.stderr.write(line),
  })
  const watchdog = answerWatchdog(io.env, log)
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      const ports = await createKubeletPorts(log, io.env)
      const server = await startServerInside(config, ports)
      try {
        const kubelet = await startKubelet(config, withServer(ports, server), signal)
        watchdog.watch(kubelet.healthChecks)
        const stopped = signal.aborted ? Promise.resolve() : once(signal, 'abort')
        await Promise.race([stopped, kubelet.done])
        await kubelet.close()
        log.info('stopped')
      } finally {
        await server?.close()
      }
    } catch (e) {
      if (signal.aborted) return
      // A reader of JSON lines gets the reason as one of them; everybody else as the last line of the command.
      if (format !== 'json') throw e
      const error = asKeelsonError(e)
      log.error('kubelet failed to start', { error })
      io.exitCode = exitStatus(error.code)
    }
  }
  await untilSignal(run, { onSignal: (signal) => log.info('stopping', { signal }) }).finally(() =>
    watchdog.stop(),
  )
}

/** Undefined: none is wanted, and its code is not loaded. */
async function startServerInside(
  files: KubeletConfigFiles,
  { metrics, log }: KubeletPorts,
): Promise<RunningCri | undefined> {
  const { listen } = files.loaded.config.keelson.criServer
  if (listen === undefined) return undefined
  const { startCriServer } = await import('./cri-server.js')
  return await startCriServer(listen, files, metrics, log)
}

const withServer = (ports: KubeletPorts, server: RunningCri | undefined): KubeletPorts =>
  server === undefined
    ? ports
    : {
        ...ports,
        connect: (...where) => server.complete(ports.connect(...where)),
        lookHere: server.lookHere,
      }
