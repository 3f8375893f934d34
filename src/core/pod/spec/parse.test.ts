import { describe, expect, test } from 'vitest'
import { image, manifest, specOf } from '../../../../test/support/pod-manifest.js'
import { formatPodProblems, parsePodSpec } from './parse.js'
import {
  clusterContainerFields,
  clusterEnvSources,
  clusterPodFields,
  refusedContainerFields,
  refusedContainerSecurity,
  refusedMetadata,
  refusedPodFields,
  refusedPodSecurity,
  refusedVolumeKinds,
} from './refused.js'

const problemsOf = (input: unknown): string[] => {
  const parsed = parsePodSpec(input)
  return parsed.kind === 'pod' ? [] : parsed.problems.map((p) => `${p.path}: ${p.message}`)
}
const withContainer = (fields: object, spec: object = {}) =>
  manifest({ containers: [{ name: 'app', image, ...fields }], ...spec })

describe('what is read', () => {
  test('defaults are those of the API', () => {
    const spec = specOf()
    expect(spec).toMatchObject({
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      hostNetwork: false,
      dns: { policy: 'ClusterFirst' },
    })
    expect(spec.containers[0]).toMatchObject({
      pullPolicy: 'IfNotPresent',
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    })
    expect(spec.pod.namespace).toBe('default')
  })

  for (const [name, wanted] of [
    ['x:latest', 'Always'],
    ['x', 'Always'],
    ['registry:5000/x', 'Always'],
    ['x:1', 'IfNotPresent'],
    [`x@sha256:${'0'.repeat(64)}`, 'IfNotPresent'],
  ] as const)
    test(`pull policy of ${name} is ${wanted}`, () => {
      expect(specOf({ containers: [{ name: 'app', image: name }] }).containers[0]?.pullPolicy).toBe(wanted)
    })

  test('every field of this node', () => {
    const spec = specOf({
      restartPolicy: 'OnFailure',
      terminationGracePeriodSeconds: 5,
      hostPID: true,
      hostname: 'h',
      hostAliases: [{ ip: '10.1.1.1', hostnames: ['a.example'] }],
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['1.1.1.1'], searches: ['x.'], options: [{ name: 'ndots', value: '2' }] },
      securityContext: {
        runAsUser: 1000,
        fsGroup: 2000,
        supplementalGroups: [3],
        sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '1' }],
      },
      volumes: [
        { name: 'scratch', emptyDir: {} },
        { name: 'ram', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
        { name: 'host', hostPath: { path: '/srv', type: 'Directory' } },
      ],
      initContainers: [
        { name: 'first', image },
        { name: 'side', image, restartPolicy: 'Always' },
      ],
      containers: [
        {
          name: 'app',
          image,
          command: ['sh'],
          args: ['-c', 'x'],
          env: [
            { name: 'A', value: '1' },
            { name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          ],
          ports: [{ containerPort: 80, hostPort: 8080 }],
          volumeMounts: [
            { name: 'scratch', mountPath: '/s' },
            { name: 'host', mountPath: '/h', readOnly: true },
          ],
          securityContext: {
            capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
            readOnlyRootFilesystem: true,
            allowPrivilegeEscalation: false,
          },
        },
      ],
    })
    expect(spec.initContainers.map((c) => c.kind)).toEqual(['init', 'sidecar'])
    expect(spec.dns.options).toEqual(['ndots:2'])
    expect(spec.volumes[1]).toEqual({ name: 'ram', kind: 'emptyDir', medium: 'memory', sizeLimit: 67108864n })
    expect(spec.containers[0]?.ports[0]).toMatchObject({ hostPort: 8080, protocol: 'TCP' })
    expect(spec.security.sysctls.get('net.ipv4.tcp_syncookies')).toBe('1')
  })

  test('on the host network every port is a port of the host', () => {
    const spec = specOf({
      hostNetwork: true,
      containers: [{ name: 'app', image, ports: [{ containerPort: 80 }] }],
    })
    expect(spec.containers[0]?.ports[0]?.hostPort).toBe(80)
  })

  test('what tools write without meaning it is let through', () => {
    expect(
      problemsOf({
        ...manifest({ tolerations: [{}], nodeSelector: { a: 'b' } }, { creationTimestamp: null }),
        status: {},
      }),
    ).toEqual([])
  })
})

describe('what is refused', () => {
  for (const key of Object.keys({ ...refusedPodFields, ...clusterPodFields }))
    test(`spec.${key} by name`, () => {
      expect(problemsOf(manifest({ [key]: [{ name: 'x' }] })).join()).toContain(
        `spec.${key}: is not supported`,
      )
    })
  for (const key of Object.keys({ ...refusedContainerFields, ...clusterContainerFields }))
    test(`a container's ${key} by name`, () => {
      expect(problemsOf(withContainer({ [key]: { x: 1 } })).join()).toContain(
        `spec.containers[0].${key}: is not supported`,
      )
    })
  for (const key of Object.keys(refusedVolumeKinds))
    test(`a volume of kind ${key} by name`, () => {
      expect(problemsOf(manifest({ volumes: [{ name: 'v', [key]: { x: 1 } }] })).join()).toContain(
        `.${key}: is not supported`,
      )
    })

  for (const { place, refused, put } of [
    { place: 'metadata', refused: refusedMetadata, put: (f: object) => manifest({}, { ...f }) },
    {
      place: 'securityContext',
      refused: refusedPodSecurity,
      put: (f: object) => manifest({ securityContext: f }),
    },
    {
      place: "a container's securityContext",
      refused: refusedContainerSecurity,
      put: (f: object) => withContainer({ securityContext: f }),
    },
    {
      place: 'a variable',
      refused: clusterEnvSources,
      put: (f: object) => withContainer({ env: [{ name: 'A', valueFrom: f }] }),
    },
  ])
    for (const key of Object.keys(refused))
      test(`${key} of ${place} by name`, () => {
        expect(problemsOf(put({ [key]: 'x' })).join()).toContain(`.${key}: is not supported`)
      })

  for (const { name, input, says } of [
    { name: 'a list', input: [], says: 'pod: is not an object' },
    { name: 'nothing', input: undefined, says: 'empty' },
    {
      name: 'an object without a prototype, as a parser makes it, where an amount belongs',
      input: manifest({
        volumes: [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: Object.create(null) } }],
      }),
      says: 'sizeLimit: is not a quantity',
    },
    { name: 'another kind', input: { ...manifest(), kind: 'Deployment' }, says: 'kind: is Deployment' },
    {
      name: 'no containers',
      input: manifest({ containers: [] }),
      says: 'spec.containers: the pod has no containers',
    },
    {
      name: 'no spec',
      input: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } },
      says: 'spec: is missing',
    },
    { name: 'a name in capitals', input: manifest({}, { name: 'Web' }), says: 'metadata.name: is "Web"' },
    { name: 'a typo', input: manifest({ hostNetwrk: true }), says: 'spec.hostNetwrk: is not a field' },
    { name: 'a uid', input: manifest({}, { uid: 'x' }), says: 'metadata.uid: is not supported' },
    {
      name: 'no image',
      input: manifest({ containers: [{ name: 'a' }] }),
      says: 'spec.containers[0].image: is missing',
    },
    {
      name: 'a container named twice',
      input: manifest({
        containers: [
          { name: 'a', image },
          { name: 'a', image },
        ],
      }),
      says: 'names the container "a" twice',
    },
    {
      name: 'an unknown volume',
      input: withContainer({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
      says: 'there is no volume v',
    },
    {
      name: 'a way out of a host path',
      input: manifest({ volumes: [{ name: 'v', hostPath: { path: '/a/../etc' } }] }),
      says: 'hostPath.path: is not an absolute path',
    },
    {
      name: 'a request above its limit',
      input: withContainer({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
      says: 'above its limit',
    },
    {
      name: 'a broken quantity',
      input: withContainer({ resources: { limits: { memory: '1Zi' } } }),
      says: 'unknown suffix',
    },
    {
      name: 'restart rules without a restart policy',
      input: withContainer({
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }],
      }),
      says: 'restartPolicyRules: is given without restartPolicy',
    },
    {
      name: 'a restart rule without an operator',
      input: withContainer({
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { values: [1] } }],
      }),
      says: 'exitCodes.operator: is missing',
    },
    {
      name: 'a probe with two handlers',
      input: withContainer({ livenessProbe: { exec: { command: ['a'] }, tcpSocket: { port: 1 } } }),
      says: 'livenessProbe: names 2 handlers',
    },
    {
      name: 'a grace period on a readiness probe',
      input: withContainer({
        readinessProbe: { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 1 },
      }),
      says: 'readinessProbe.terminationGracePeriodSeconds: is given',
    },
    {
      name: 'a liveness probe that must succeed twice',
      input: withContainer({ livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } }),
      says: 'successThreshold: is 2',
    },
    {
      name: 'a port that is neither a number nor a name',
      input: withContainer({ livenessProbe: { httpGet: { port: '80' } } }),
      says: 'httpGet.port: is "80"',
    },
    {
      name: 'a probe of an init container',
      input: manifest({
        initContainers: [{ name: 'i', image: 'i', startupProbe: { tcpSocket: { port: 1 } } }],
      }),
      says: 'startupProbe: is given on an init container',
    },
    {
      name: 'a hook that connects to a port',
      input: withContainer({ lifecycle: { preStop: { tcpSocket: { port: 1 } } } }),
      says: 'preStop.tcpSocket: is not supported',
    },
    {
      name: 'one host port twice',
      input: withContainer({
        ports: [
          { containerPort: 1, hostPort: 5 },
          { containerPort: 2, hostPort: 5 },
        ],
      }),
      says: 'TCP 0.0.0.0:5',
    },
    {
      name: 'privileged without escalation',
      input: withContainer({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
      says: 'escalate anyway',
    },
    {
      name: 'a field of no container',
      input: withContainer({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] }),
      says: 'is not a field that a container can have',
    },
    {
      name: 'user namespaces',
      input: manifest({ hostUsers: false }),
      says: 'hostUsers: false is not supported',
    },
    { name: 'windows', input: manifest({ os: { name: 'windows' } }), says: 'spec.os.name: is windows' },
    { name: 'a NUL in a word', input: withContainer({ command: ['a\0b'] }), says: 'command[0]: is' },
  ])
    test(name, () => expect(problemsOf(input).join('\n')).toContain(says))

  test('every problem of one manifest, not only the first', () => {
    const found = problemsOf({
      apiVersion: 'v2',
      kind: 'Pod',
      metadata: { name: 'A' },
      spec: {
        restartPolicy: 'Sometimes',
        hostPID: 'yes',
        containers: [
          { name: 'a_b', image: ' x', livenessProbe: { x: 1 }, securityContext: { runAsUser: -1 } },
        ],
        volumes: [{ name: 'v', secret: { secretName: 's' } }],
      },
    })
    expect(found.map((line) => line.split(':')[0]).sort()).toEqual([
      'apiVersion',
      'metadata.name',
      'spec.containers[0].image',
      'spec.containers[0].livenessProbe',
      'spec.containers[0].livenessProbe.x',
      'spec.containers[0].name',
      'spec.containers[0].securityContext.runAsUser',
      'spec.hostPID',
      'spec.restartPolicy',
      'spec.volumes[0].secret',
    ])
  })

  test('a thousand problems are told as a hundred', () => {
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`x${i}`, 1]))
    expect(problemsOf(manifest(many))).toHaveLength(100)
  })

  test('problems read as lines', () => {
    const parsed = parsePodSpec(manifest({ hostNetwrk: true }))
    expect(parsed.kind === 'problems' && formatPodProblems(parsed.problems)).toBe(
      'spec.hostNetwrk: is not a field of a Pod here; did you mean hostNetwork?',
    )
  })
})
