// Manifests of the pods that `keelson up` brings along. Images are the lab's own, made of busybox.

interface PodParts {
  readonly name: string
  readonly image: string
  readonly args: readonly string[]
  /** The first lines of `resources`, ready to be put in; empty: none. */
  readonly resources?: { readonly requests: string; readonly limits: string }
  /** A directory of the node that the container sees as /data. */
  readonly data?: string
}

const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join('')

export const formatPod = ({ name, image, args, resources, data }: PodParts): string =>
  lines(
    'apiVersion: v1',
    'kind: Pod',
    'metadata:',
    `  name: ${name}`,
    'spec:',
    '  terminationGracePeriodSeconds: 2',
    '  containers:',
    '    - name: main',
    `      image: ${image}`,
    '      imagePullPolicy: Never',
    `      args: ${JSON.stringify(args)}`,
  ) +
  (resources === undefined
    ? ''
    : lines(
        '      resources:',
        `        requests: ${resources.requests}`,
        `        limits: ${resources.limits}`,
      )) +
  (data === undefined
    ? ''
    : lines(
        '      volumeMounts:',
        '        - { name: data, mountPath: /data }',
        '  volumes:',
        '    - name: data',
        `      hostPath: { path: ${JSON.stringify(data)}, type: Directory }`,
      ))
