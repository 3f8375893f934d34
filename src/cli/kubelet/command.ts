// `keelson kubelet`: the upstream kubelet's command line, read by our own flag parser, and one life of the process
// from start to signal.
import { once } from 'node:events'
import { Command } from 'commander'
import { createFiles } from '../../adapters/files/files.js'
import { createLog } from '../../adapters/log/log.js'
import { splitFlags } from '../../config/flag-words.js'
import { asKeelsonError } from '../../core/errors.js'
import { formatKubeletVersion } from '../../core/release/version-line.js'
import { readKubeletConfig, readRelease } from '../../kubelet/read-config.js'
import { startKubelet } from '../../kubelet/start.js'
import { exitStatus } from '../exit-status.js'
import type { Io } from '../io.js'
import { keepHeapSmall } from '../small-heap.js'
import { version } from '../version.js'
import { answerWatchdog } from '../watchdog.js'
import { formatKubeletHelp } from './help.js'
import { createKubeletPorts } from './wire.js'

/** klog's convention: 4 is debugging. */
const debugVerbosity = 4

export const create = (io: Io): Command =>
  new Command('kubelet')
    .description('the node agent, with the flags and files of the upstream kubelet; --help lists them')
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
  const stop = new AbortController()
  const onSignal = (name: NodeJS.Signals): void => {
    log.info('ending', { signal: name })
    stop.abort(new Error(name))
  }
  process.once('SIGTERM', onSignal).once('SIGINT', onSignal)
  const watchdog = answerWatchdog(io.env, log)
  try {
    const kubelet = await startKubelet(config, await createKubeletPorts(log, io.env), stop.signal)
    watchdog.watch(kubelet.healthChecks)
    const stopped = stop.signal.aborted ? Promise.resolve() : once(stop.signal, 'abort')
    await Promise.race([stopped, kubelet.done])
    await kubelet.close()
    log.info('ended')
  } catch (e) {
    if (stop.signal.aborted) return
    // A reader of JSON lines gets the reason as one of them; everybody else as the last line of the command.
    if (format !== 'json') throw e
    const error = asKeelsonError(e)
    log.error('the kubelet does not start', { error })
    io.exitCode = exitStatus(error.code)
  } finally {
    watchdog.stop()
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal)
  }
}
