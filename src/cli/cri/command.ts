// `keelson cri`: the CRI server in front of a runtime, until a signal ends it.
import { once } from 'node:events'
import { Command } from 'commander'
import { createLog } from '../../adapters/log/log.js'
import type { LiveSetting } from '../../core/dashboard/model.js'
import { flagSettings } from '../dashboard-ports.js'
import type { Io } from '../io.js'
import { addAlias } from '../option-alias.js'
import { untilSignal } from '../process/signals.js'
import { keepHeapSmall } from '../process/small-heap.js'
import { addServerOptions } from '../server-flags.js'
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

const addCriOptions = (command: Command): Command => {
  command
    .description(
      'Run a CRI server in front of a container runtime. It forwards every call of the kubelet and crictl unchanged\n' +
        'and answers the calls that the runtime does not implement. docs/cri-server.md lists them.\n\n' +
        '  keelson cri --runtime-endpoint unix:///run/containerd/containerd.sock --listen unix:///run/keelson/cri.sock\n' +
        '  crictl --runtime-endpoint unix:///run/keelson/cri.sock info',
    )
    .option(
      '--runtime-endpoint <endpoint>',
      'CRI socket of the runtime',
      'unix:///run/containerd/containerd.sock',
    )
    .option('--image-endpoint <endpoint>', 'CRI socket for ImageService (default: the runtime endpoint)')
    .option('--listen <endpoint>', 'CRI socket to listen on', 'unix:///run/keelson/cri.sock')
    .option('--mode <mode>', 'complete: answer what the runtime lacks; observe: only record it', 'complete')
    .option(
      '--values <mode>',
      'repair: replace wrong values of the runtime from the kernel; kernel: ask the runtime only for what the\n' +
        'kernel cannot say, which is cheapest; trust: pass them on',
      'repair',
    )
    .option(
      '--cgroup-driver <driver>',
      "systemd or cgroupfs: answer RuntimeConfig with this, not with the runtime's configuration",
    )
    .option('--runtime-config <file>', "the runtime's configuration file, if not at its default path")
    .option(
      '--kubeconfig <file>',
      'API server for authentication and authorization (default: none, only the local token)',
    )
    .option('--node-name <name>', 'node name (default: $NODE_NAME, else the host name)')
    .option('--cgroup-mount <directory>', 'where cgroup v2 of the host is mounted')
    .option('--proc-mount <directory>', 'where proc of the host is mounted')
    .option('--log-format <format>', 'format of log lines: text or json', 'text')
    .option('--v <level>', 'verbosity; from 4 on every call is logged', '0')
  addAlias(command, '--upstream', '--runtime-endpoint')
  addAlias(command, '--image-upstream', '--image-endpoint')
  return addAlias(command, '--logging-format', '--log-format')
}

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
    log.info('stopped')
  }
  await untilSignal(run, { onSignal: (signal) => log.info('stopping', { signal }) }).finally(() =>
    watchdog.stop(),
  )
}
