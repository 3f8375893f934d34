// `keelson companion` and `keelson companion rollback`: puts adapters together and hands them to memory-qos/companion.
import { once } from 'node:events'
import { Command } from 'commander'
import { createLog } from '../../adapters/log/log.js'
import type { LiveSetting } from '../../core/dashboard/model.js'
import { rollBack } from '../../memory-qos/companion/companion.js'
import { flagSettings } from '../dashboard-ports.js'
import type { Io } from '../io.js'
import { untilSignal } from '../process/signals.js'
import { keepHeapSmall } from '../process/small-heap.js'
import { answerWatchdog } from '../watchdog.js'
import { openMachine } from './machine.js'
import { addMachineOptions, addSourceOptions, type CompanionCommandOptions, checkOptions } from './options.js'
import { startCompanion } from './wire.js'

const description = `Run Memory QoS on a node whose pods are run by another kubelet, without the feature gate. Sets memory.min, memory.low
and memory.high of containers, pods, QoS cgroups, kubepods and reserved cgroups. The original values are saved before
the first write; \`keelson companion rollback\` restores them.`

export const create = (io: Io): Command => {
  const companion = addSourceOptions(
    addMachineOptions(new Command('companion').description(description)),
  ).action(async (options: CompanionCommandOptions, command: Command) =>
    run(options, io, flagSettings(command)),
  )
  const rollback = addMachineOptions(
    new Command('rollback')
      .summary('restore the original values; stop the companion first')
      .description('Restore the original values that the companion saved. Stop the companion first.'),
  ).action(async (_: unknown, command: Command) =>
    undo(command.optsWithGlobals<CompanionCommandOptions>(), io),
  )
  return companion.addCommand(rollback)
}

/** klog's convention: 4 is debugging. */
const debugVerbosity = 4

const logOf = ({ logFormat, v }: Pick<CompanionCommandOptions, 'logFormat' | 'v'>, io: Io) =>
  createLog({
    format: logFormat,
    level: Number(v) >= debugVerbosity ? 'debug' : 'info',
    write: (line) => io.stderr.write(line),
  })

/** What fails because a signal ended it is no failure. */
const untilStopped = (work: (signal: AbortSignal) => Promise<void>): Promise<void> =>
  untilSignal((signal) =>
    work(signal).catch((e: unknown) => {
      if (!signal.aborted) throw e
    }),
  )

async function run(options: CompanionCommandOptions, io: Io, flags: readonly LiveSetting[]): Promise<void> {
  keepHeapSmall()
  checkOptions(options)
  const log = logOf(options, io)
  const watchdog = answerWatchdog(io.env, log)
  await untilStopped(async (signal) => {
    const companion = await startCompanion(options, io, log, signal, flags)
    try {
      const stopped = signal.aborted ? Promise.resolve() : once(signal, 'abort')
      await Promise.race([companion.done, stopped])
    } finally {
      await companion.close()
      log.info('companion stopped; its values stay until `keelson companion rollback`')
    }
  }).finally(() => watchdog.stop())
}

async function undo(options: CompanionCommandOptions, io: Io): Promise<void> {
  await untilStopped(async (signal) => {
    const machine = await openMachine(options, undefined)
    try {
      const { cgroups, files } = await rollBack({ ...machine, runtime: machine.client.runtime, signal })
      io.stdout.write(`rolled back: ${files} files changed, ${cgroups} cgroups have their original values\n`)
    } finally {
      await machine.close()
    }
  })
}
