// Where the API server is and who we are to it, from a kubeconfig or from the service account of the pod that we run in.
import { keelsonError } from '../../core/errors.js'
import type { Log } from '../../ports/log.js'
import { createClock } from '../clock/clock.js'
import { readBounded } from '../files/read.js'
import { type CallReport, createKubeApi, type OpenKubeApi } from './kube-api.js'
import { type ApiAccess, parseKubeconfig } from './kubeconfig.js'

interface OpenApiOptions {
  /** Undefined: the service account. */
  readonly kubeconfig: string | undefined
  readonly log: Log
  /** See ApiAccess. */
  readonly pairFile?: string | undefined
  /** Version of this program, for the User-Agent. */
  readonly version: string
  readonly report?: (call: CallReport) => void
}

const maxKubeconfigBytes = 1024 * 1024
const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount'

export async function readAccess(
  kubeconfig: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<ApiAccess> {
  if (kubeconfig === undefined) return serviceAccountAccess(env)
  const bytes = await readBounded(kubeconfig, maxKubeconfigBytes)
  if (bytes === undefined)
    throw keelsonError('kubeapi.kubeconfig', `read kubeconfig ${kubeconfig}: there is no such file`, {
      path: kubeconfig,
    })
  return parseKubeconfig(Buffer.from(bytes).toString('utf8'), kubeconfig)
}

function serviceAccountAccess(env: NodeJS.ProcessEnv): ApiAccess {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env
  if (host === undefined || host === '' || !/^\d{1,5}$/.test(port ?? ''))
    throw keelsonError(
      'kubeapi.kubeconfig',
      'use the service account of this pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; give --kubeconfig outside a pod',
    )
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    ca: { file: `${serviceAccount}/ca.crt` },
    insecure: false,
    user: { token: { file: `${serviceAccount}/token` } },
  }
}

export async function openKubeApi({
  kubeconfig,
  pairFile,
  log,
  version,
  report,
}: OpenApiOptions): Promise<OpenKubeApi> {
  const access = await readAccess(kubeconfig)
  return createKubeApi({
    access: pairFile === undefined ? access : { ...access, pairFile },
    clock: createClock(),
    log,
    userAgent: `keelson/${version} (linux)`,
    ...(report === undefined ? {} : { report }),
  })
}
