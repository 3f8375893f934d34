// One run of critest against one socket; its report is a file.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '../process.js'

export interface CritestRun {
  readonly binary: string
  readonly endpoint: string
  /** Reports and output go here, under this name. */
  readonly out: string
  readonly name: string
  readonly timeoutMs: number
  /** Where volumes and logs of the specs lie. */
  readonly tmp: string
  /** A regular expression over spec names; all when absent. */
  readonly focus?: string | undefined
  /** How often a spec that fails is tried in all; once when absent. */
  readonly attempts?: number | undefined
}

const SEED = '1' // the same order in every run

/** Path of ginkgo's report. A failed spec is an answer and no error. */
export async function runCritest(run: CritestRun): Promise<string> {
  const report = join(run.out, `${run.name}.json`)
  const { stdout, stderr } = await runCommand(
    run.binary,
    [
      `-runtime-endpoint=${run.endpoint}`,
      `-image-endpoint=${run.endpoint}`,
      '-config=/dev/null',
      '-test.timeout=0',
      `-ginkgo.timeout=${Math.round(run.timeoutMs / 1000)}s`,
      `-ginkgo.seed=${SEED}`,
      '-ginkgo.no-color',
      `-ginkgo.json-report=${report}`,
      ...(run.focus === undefined ? [] : [`-ginkgo.focus=${run.focus}`]),
      ...(run.attempts === undefined ? [] : [`-ginkgo.flake-attempts=${run.attempts}`]),
    ],
    {
      timeoutMs: run.timeoutMs + 60_000,
      accept: [0, 1],
      cwd: run.out,
      env: { ...process.env, TMPDIR: run.tmp },
    },
  )
  await writeFile(join(run.out, `${run.name}.log`), stdout + stderr)
  return report
}
