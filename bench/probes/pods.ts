// The pods of the benchmark: static, in the host's network, so that the server of the probes is at their address.
export const ports = { http: 18_080, grpc: 18_081 } as const
export const periodMs = { http: 1_000, grpc: 1_000, exec: 10_000 } as const

interface Images {
  /** Runs and does nothing. */
  readonly pause: string
  readonly busybox: string
}

const pod = (name: string, container: object): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    hostNetwork: true,
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'app', imagePullPolicy: 'IfNotPresent', ...container }],
  },
})

/** An httpGet liveness and a grpc readiness probe each second. */
export const networkPod = (name: string, { pause }: Images): object =>
  pod(name, {
    image: pause,
    livenessProbe: {
      httpGet: { path: `/http/${name}`, port: ports.http },
      periodSeconds: 1,
      failureThreshold: 60,
    },
    readinessProbe: { grpc: { port: ports.grpc, service: name }, periodSeconds: 1 },
  })

/** A command every ten seconds, which asks the server too. */
export const execPod = (name: string, { busybox }: Images, address: string): object =>
  pod(name, {
    image: busybox,
    command: ['sleep', '1000000'],
    livenessProbe: {
      exec: { command: ['wget', '-q', '-O', '/dev/null', `http://${address}:${ports.http}/exec/${name}`] },
      periodSeconds: 10,
      timeoutSeconds: 9,
      failureThreshold: 60,
    },
  })
