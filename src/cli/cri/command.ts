// `keelson cri`: the CRI server in front of a runtime, until a signal ends it.
import { once } from 'node:events'
import { Command } from 'commander'
import { createLog } from '../../adapters/log/log.js'
import type { LiveSetting } from '../../core/dashboard/model.js'
import { flagSettings } from '../dashboard.js'
import type { Io } from '../io.js'
import { addServerOptions } from '../server-flags.js'
import { untilSignal } from '../signals.js'
import { keepHeapSmall } from '../small-heap.js'
import { answerWatchdog } from '../watchdog.js'
import { createCriInstall, createCriUninstall } from './install.js'
import { type CriFlags, checkFlags } from './options.js'
import { startCri } from './run-server.js'

export const create = (io: Io): Command =>
  addServerOptions(addCriOptions(new Command('cri')), 'cri')
    .action(async (flags: CriFlags, command: Command) => {
      await runCri(flags, flagSettings(command), io)
    })
    .addCommand(createCriInstall(io))
    .addCommand(createCriUninstall(io))

const addCriOptions = (command: Command): Command =>
  command
    .description(
      'Stand between CRI clients (kubelet, crictl) and a container runtime, forward everything untouched, and fill in\n' +
        'what the runtime lacks. The page docs/cri-server.md says which calls those are.\n\n' +
        '  keelson cri --upstream unix:///run/containerd/containerd.sock --listen unix:///run/keelson/cri.sock\n' +
        '  crictl --runtime-endpoint unix:///run/keelson/cri.sock info',
    )
    .option('--upstream <endpoint>', 'the runtime', 'unix:///run/containerd/containerd.sock')
    .option('--image-upstream <endpoint>', 'another program for ImageService')
    .option('--listen <endpoint>', 'where clients come', 'unix:///run/keelson/cri.sock')
    .option(
      '--mode <mode>',
      'complete, or observe: change nothing and record what the runtime lacks',
      'complete',
    )
    .option(
      '--cgroup-driver <driver>',
      "systemd or cgroupfs: beats the runtime's configuration for RuntimeConfig",
    )
    .option('--runtime-config <file>', "the runtime's configuration file, where it is not in its usual place")
    .option('--kubeconfig <file>', 'API server that says who may read; not given: the local token')
    .option('--node-name <name>', 'name of this node (default: NODE_NAME, else the host name)')
    .option('--cgroup-mount <directory>', 'cgroup v2 of the host, where it is mounted elsewhere')
    .option('--proc-mount <directory>', 'proc of the host, where it is mounted elsewhere')
    .option('--logging-format <format>', 'text or json', 'text')
    .option('--v <level>', 'verbosity; from 4 on every call is logged', '0')

async function runCri(flags: CriFlags, settings: readonly LiveSetting[], io: Io): Promise<void> {
  keepHeapSmall()
  const options = checkFlags(flags, io.env)
  const log = createLog({
    format: options.logFormat,
    level: options.isDebug ? 'debug' : 'info',
    write: (line) => io.stderr.write(line),
  })
  const watchdog = answerWatchdog(io.env, log)
  const run = async (signal: AbortSignal): Promise<void> => {
    const running = await startCri(options, log, { settings, env: io.env })
    if (!signal.aborted) await once(signal, 'abort')
    await running.close()
    log.info('ended')
  }
  await untilSignal(run, { onSignal: (signal) => log.info('ending', { signal }) }).finally(() =>
    watchdog.stop(),
  )
}
