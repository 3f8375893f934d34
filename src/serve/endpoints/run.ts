// /run/{namespace}/{pod}[/{uid}]/{container}: a command in a running container, to its end, with its output. Upstream's `cmd` is one
// text split at blanks; `command`, given once per word, keeps the words as they are.
import { keelsonError } from '../../core/errors.js'
import type { Endpoint } from '../endpoint.js'
import { jsonAnswer, safeHeaders } from '../failures.js'

export interface RunRequest {
  readonly namespace: string
  readonly pod: string
  /** Undefined: whatever pod has this name. */
  readonly uid: string | undefined
  readonly container: string
  readonly command: readonly string[]
  /** 0: as long as a call to the runtime may take. */
  readonly timeoutSeconds: number
}

export interface RunResult {
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly exitCode: number
}

export type RunCommand = (request: RunRequest, signal: AbortSignal) => Promise<RunResult>

export const runInContainer = (run: RunCommand): readonly Endpoint[] => [
  endpoint('run', '/run/{namespace}/{pod}/{container}', run),
  endpoint('run/uid', '/run/{namespace}/{pod}/{uid}/{container}', run),
]

const endpoint = (name: string, path: string, run: RunCommand): Endpoint => ({
  name,
  path,
  methods: ['POST'],
  longRunning: true,
  async handle(request, { params, query, signal }) {
    const words = query.getAll('command')
    const command = words.length > 0 ? words : (query.get('cmd') ?? '').split(' ').filter((w) => w !== '')
    if (command.length === 0)
      throw keelsonError('request.invalid', 'no command: set cmd, or command once per argument')
    const timeout = query.get('timeout') ?? '0'
    if (!/^\d{1,6}$/.test(timeout)) throw keelsonError('request.invalid', 'timeout: use whole seconds')
    const { namespace = '', pod = '', uid, container = '' } = params
    const result = await run(
      { namespace, pod, uid, container, command, timeoutSeconds: Number(timeout) },
      signal,
    )
    const json = (request.headers.get('accept') ?? []).some((v) => v.includes('application/json'))
    if (json)
      return jsonAnswer({
        exitCode: result.exitCode,
        stdout: Buffer.from(result.stdout).toString('base64'),
        stderr: Buffer.from(result.stderr).toString('base64'),
      })
    return {
      status: result.exitCode === 0 ? 200 : 500,
      headers: { ...safeHeaders, 'content-type': 'text/plain; charset=utf-8' },
      body: Buffer.concat([result.stdout, result.stderr]),
    }
  },
})
