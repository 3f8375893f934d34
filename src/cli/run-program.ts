// The program with the streams of this process, loaded after the compile cache is set up.
import { processIo } from './io.js'
import { endOnBrokenPipe, processStreams } from './process/broken-pipe.js'
import { run } from './program.js'

export function runProgram(argv: readonly string[]): Promise<number> {
  endOnBrokenPipe(processStreams())
  return run(argv, processIo())
}
