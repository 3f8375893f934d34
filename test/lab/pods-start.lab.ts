// Pods on the host with a real containerd: what a container is given, seen from inside it, by the runtime and the kernel.
import { mkdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { lacksSysResource } from '../../src/lab/containerd/start-containerd.js'
import { busybox, forever, type PodNode, shell, until } from '../kubelet/node.js'
import { endPods, running, useNode } from '../kubelet/use-node.js'

const node = useNode()

/** Runs a pod, hands over its log once it says `done`, and ends it. */
async function outputOf(
  name: string,
  script: string,
  container: object = {},
  spec: object = {},
  metadata: object = {},
): Promise<string> {
  const body = { containers: [shell('app', `${script}; echo done; ${forever}`, container)], ...spec }
  await node().pod(name, body, metadata)
  const log = await until(`${name} says done`, async () => {
    const { status, body: text } = await node().ask(`/containerLogs/default/${name}-node-1/app`)
    return status === 200 && text.includes('done\n') ? text : undefined
  })
  await endPods(node(), name)
  return log
}

const pidOf = async (n: PodNode, name: string): Promise<number> => {
  const [container] = await n.containers(name)
  const { info } = await n.cri.runtime.containerStatus({ containerId: container?.id ?? '', verbose: true })
  return (JSON.parse(info.info ?? '{}') as { readonly pid: number }).pid
}

describe('names and places', () => {
  test("POD-01 labels, annotations, log path and link are the kubelet's", async () => {
    await node().pod(
      'names',
      { containers: [shell('app', `echo hello; ${forever}`)] },
      { labels: { a: 'b' } },
    )
    await running(node(), 'names')
    const [sandbox] = await node().sandboxes('names')
    const [container] = await node().containers('names')
    const uid = sandbox?.metadata?.uid ?? ''
    expect(uid).toMatch(/^[0-9a-f]{32}$/)
    expect(sandbox?.labels).toEqual({
      a: 'b',
      'io.kubernetes.pod.name': 'names-node-1',
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': uid,
    })
    expect(sandbox?.annotations).toMatchObject({
      'kubernetes.io/config.source': 'file',
      'kubernetes.io/config.hash': uid,
    })
    expect(container?.labels['io.kubernetes.container.name']).toBe('app')
    expect(container?.annotations).toMatchObject({
      'io.kubernetes.container.restartCount': '0',
      'io.kubernetes.pod.terminationGracePeriod': '30',
    })
    const log = join(node().logs, `default_names-node-1_${uid}/app/0.log`)
    expect(await readFile(log, 'utf8')).toMatch(/^\S+Z stdout F hello\n$/)
    const link = join(node().directory, `log/containers/names-node-1_default_app-${container?.id}.log`)
    expect(await readlink(link)).toBe(log)
    await endPods(node(), 'names')
    expect(await node().leftovers()).toEqual([])
  })

  test("POD-02 the cgroup of a container is below its pod's, in the class of the pod", async () => {
    const resources = { requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '500m', memory: '64Mi' } }
    await node().pod('sized', { containers: [shell('app', forever, { resources })] })
    await running(node(), 'sized')
    const uid = (await node().podNamed('sized'))?.metadata.uid
    const pod = `${node().cgroupRoot}/kubepods/burstable/pod${uid}`
    const [container] = await node().containers('sized')
    const cgroup = await readFile(`/proc/${await pidOf(node(), 'sized')}/cgroup`, 'utf8')
    expect(cgroup).toContain(`${pod}/${container?.id}`)
    const text = (path: string, file: string): string =>
      new TextDecoder().decode(node().cgroups.read(path, file)).trim()
    if (node().cgroups.version === 'v1') {
      expect(text(pod, 'memory.limit_in_bytes')).toBe('67108864')
      expect(text(pod, 'cpu.shares')).toBe('102')
      expect(text(pod, 'cpu.cfs_quota_us')).toBe('50000')
      expect(text(`${pod}/${container?.id}`, 'memory.limit_in_bytes')).toBe('67108864')
      expect(text(`${pod}/${container?.id}`, 'cpu.cfs_quota_us')).toBe('50000')
      expect(text(`${node().cgroupRoot}/kubepods/burstable`, 'cpu.shares')).toBe('102')
    } else {
      expect(text(pod, 'memory.max')).toBe('67108864')
      expect(text(pod, 'cpu.max')).toBe('50000 100000')
    }
    await endPods(node(), 'sized')
    expect(node().cgroups.exists(pod)).toBe(false)
  })
})

describe('what the container sees', () => {
  test('POD-03 command, arguments, environment and fields of the pod', async () => {
    const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } })
    const log = await outputOf(
      'env',
      'echo "$NAME|$NS|$NODE|$HOST|$LABEL|$BOTH|$1"; ip=$(ip -4 addr show eth0 | grep -o "inet [0-9.]*"); [ "inet $IP" = "$ip" ] && echo same',
      {
        args: ['sh', '$(BOTH)'],
        env: [
          field('NAME', 'metadata.name'),
          field('NS', 'metadata.namespace'),
          field('NODE', 'spec.nodeName'),
          field('HOST', 'status.hostIP'),
          field('IP', 'status.podIP'),
          field('LABEL', "metadata.labels['x']"),
          { name: 'BOTH', value: '$(NAME)-$(LABEL)' },
        ],
      },
      {},
      { labels: { x: 'y' } },
    )
    expect(log).toContain('env-node-1|default|node-1|192.0.2.1|y|env-node-1-y|env-node-1-y\nsame\n')
  })

  test('POD-04 emptyDir is shared by the containers of a pod and gone after it', async () => {
    await node().pod('shared', {
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [
        shell('w', `echo ping > /v/f; ${forever}`, { volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
        shell('app', `until cat /r/f; do sleep 0.1; done; echo x > /r/f || echo refused; ${forever}`, {
          volumeMounts: [{ name: 'v', mountPath: '/r', readOnly: true }],
        }),
      ],
    })
    await until('the reader has read', async () =>
      (await node().ask('/containerLogs/default/shared-node-1/app')).body.includes('refused'),
    )
    expect(await node().readLog('shared', 'app')).toMatch(/ping\n.*refused\n/s)
    await endPods(node(), 'shared')
    expect(await node().leftovers()).toEqual([])
  })

  test('POD-05 emptyDir in memory is a tmpfs of its size and unmounted after the pod', async () => {
    const log = await outputOf(
      'ram',
      'grep " /v " /proc/mounts; df -k /v | tail -1',
      { volumeMounts: [{ name: 'v', mountPath: '/v' }] },
      { volumes: [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } }] },
    )
    expect(log).toMatch(/tmpfs \/v tmpfs/)
    expect(log).toContain('8192')
    expect(await node().leftovers()).toEqual([])
  })

  test('POD-06 hostPath: what is there, what is made, and what must be there', async () => {
    const host = join(node().directory, 'host')
    await mkdir(host)
    await writeFile(join(host, 'f'), 'from the host')
    const log = await outputOf(
      'hostpath',
      'cat /h/f; echo; echo new > /made/g',
      {
        volumeMounts: [
          { name: 'h', mountPath: '/h' },
          { name: 'm', mountPath: '/made' },
        ],
      },
      {
        volumes: [
          { name: 'h', hostPath: { path: host, type: 'Directory' } },
          { name: 'm', hostPath: { path: join(host, 'made'), type: 'DirectoryOrCreate' } },
        ],
      },
    )
    expect(log).toContain('from the host')
    expect(await readFile(join(host, 'made/g'), 'utf8')).toBe('new\n')
    await node().pod('nohost', {
      volumes: [{ name: 'h', hostPath: { path: '/nowhere', type: 'Directory' } }],
      containers: [shell('app', forever)],
    })
    const message = await until(
      'the volume is refused',
      async () => (await node().podNamed('nohost'))?.status.message,
    )
    expect(message).toContain('hostPath type check failed: /nowhere is not a directory')
    await endPods(node(), 'nohost')
  })

  test('POD-07 users and groups', async () => {
    const log = await outputOf(
      'user',
      'id -u; id -G; touch /v/f; stat -c "%u %g" /v/f',
      { securityContext: { runAsUser: 1234 }, volumeMounts: [{ name: 'v', mountPath: '/v' }] },
      {
        volumes: [{ name: 'v', emptyDir: {} }],
        securityContext: { runAsUser: 1, runAsGroup: 77, supplementalGroups: [88], fsGroup: 99 },
      },
    )
    expect(log).toBe('1234\n77 88 99\n1234 99\ndone\n')
  })

  test('POD-08 capabilities, privileged and no new privileges', async () => {
    const caps = 'grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status'
    const dropped = await outputOf('caps', caps, {
      securityContext: {
        capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
        allowPrivilegeEscalation: false,
      },
    })
    expect(dropped).toMatch(/CapEff:\t0000000000000400\nNoNewPrivs:\t1/)
    const usual = BigInt(`0x${/CapEff:\t(\w+)/.exec(await outputOf('usual', caps))?.[1]}`)
    const all = BigInt(
      `0x${/CapEff:\t(\w+)/.exec(await outputOf('all', caps, { securityContext: { privileged: true } }))?.[1]}`,
    )
    expect(all & usual).toBe(usual)
    expect(all).toBeGreaterThan(usual)
  })

  test('POD-09 a read-only root file system', async () => {
    expect(
      await outputOf('readonly', 'touch /x || echo refused', {
        securityContext: { readOnlyRootFilesystem: true },
      }),
    ).toContain('refused')
  })

  test('POD-10 namespaces of the host', async () => {
    const log = await outputOf(
      'hostns',
      'readlink /proc/self/ns/net; readlink /proc/self/ns/ipc; [ -d /proc/$KUBELET ] && echo sees',
      { env: [{ name: 'KUBELET', value: String(process.pid) }] },
      { hostNetwork: true, hostPID: true, hostIPC: true },
    )
    expect(log).toContain(await readlink('/proc/self/ns/net'))
    expect(log).toContain(await readlink('/proc/self/ns/ipc'))
    expect(log).toContain('sees')
    const own = await outputOf('ownns', 'readlink /proc/self/ns/net; readlink /proc/self/ns/ipc')
    expect(own).not.toContain(await readlink('/proc/self/ns/net'))
    expect(own).not.toContain(await readlink('/proc/self/ns/ipc'))
  })

  test('POD-11 one process namespace for the pod', async () => {
    await node().pod('shareps', {
      shareProcessNamespace: true,
      containers: [
        shell('a', `exec sleep 4321`),
        shell('app', `sleep 1; ps -o args | grep -cx "sleep 4321"; ${forever}`),
      ],
    })
    await until(
      'it has counted',
      async () => (await node().ask('/containerLogs/default/shareps-node-1/app')).body === '1\n',
    )
    await endPods(node(), 'shareps')
  })

  test('POD-12 hostPort reaches the container', async () => {
    const port = 18080 + (process.pid % 1000)
    const script = `while :; do echo -e "HTTP/1.0 200 OK\\r\\n\\r\\nhello" | nc -l -p 80; done`
    await node().pod('ports', {
      terminationGracePeriodSeconds: 0,
      containers: [shell('app', script, { ports: [{ containerPort: 80, hostPort: port }] })],
    })
    await running(node(), 'ports')
    const ip = (await node().podNamed('ports'))?.status.podIP ?? ''
    const gateway = ip.replace(/\.\d+$/, '.1')
    const answer = await until(
      'the port answers',
      () =>
        new Promise<string | undefined>((resolve) => {
          const socket = connect({ host: gateway, port, timeout: 1000 })
          let text = ''
          socket
            .on('data', (data) => {
              text += data.toString()
            })
            .on('error', () => resolve(undefined))
            .on('close', () => resolve(text === '' ? undefined : text))
            .on('timeout', () => socket.destroy())
          socket.write('GET / HTTP/1.0\r\n\r\n')
        }),
    )
    expect(answer).toContain('hello')
    await endPods(node(), 'ports')
  })

  test('POD-13 /etc/hosts, host name and resolv.conf', async () => {
    const log = await outputOf(
      'hosts',
      'hostname; cat /etc/hosts; cat /etc/resolv.conf',
      {},
      {
        hostname: 'own-name',
        hostAliases: [{ ip: '10.9.9.9', hostnames: ['db.example'] }],
        dnsPolicy: 'None',
        dnsConfig: {
          nameservers: ['192.0.2.53'],
          searches: ['x.example'],
          options: [{ name: 'ndots', value: '3' }],
        },
      },
    )
    expect(log).toMatch(/^own-name\n/)
    expect(log).toMatch(/10\.\d+\.\d+\.\d+\town-name/)
    expect(log).toContain('10.9.9.9\tdb.example')
    expect(log).toContain('nameserver 192.0.2.53')
    expect(log).toContain('options ndots:3')
  })

  test('POD-14 runAsNonRoot stops an image of root before it runs', async () => {
    await node().pod('nonroot', {
      containers: [{ name: 'app', image: busybox, securityContext: { runAsNonRoot: true } }],
    })
    const reason = await until(
      'it is refused',
      async () =>
        (await node().podNamed('nonroot'))?.status.containerStatuses[0]?.state.waiting?.reason ===
        'CreateContainerConfigError',
    )
    expect(reason).toBe(true)
    expect(await node().containers('nonroot')).toEqual([])
    await endPods(node(), 'nonroot')
  })
})

describe('who is killed first', () => {
  const scoreOf = async (name: string): Promise<number> =>
    Number(await readFile(`/proc/${await pidOf(node(), name)}/oom_score_adj`, 'utf8'))

  test('POD-15 oom_score_adj of BestEffort and Burstable pods', async () => {
    await node().pod('best', { containers: [shell('app', forever)] })
    await node().pod('burst', {
      containers: [shell('app', forever, { resources: { requests: { memory: '16Mi' } } })],
    })
    await running(node(), 'best')
    await running(node(), 'burst')
    expect(await scoreOf('best')).toBe(1000)
    const score = await scoreOf('burst')
    expect(score).toBeGreaterThan(2)
    expect(score).toBeLessThan(1000)
    await endPods(node(), 'best', 'burst')
  })

  test('POD-16 oom_score_adj of Guaranteed pods and of sandboxes', async (ctx) => {
    if (await lacksSysResource())
      ctx.skip('needs CAP_SYS_RESOURCE: without it nobody may lower a score (restrict_oom_score_adj is set)')
    const same = { cpu: '50m', memory: '32Mi' }
    await node().pod('guaranteed', {
      containers: [shell('app', forever, { resources: { requests: same, limits: same } })],
    })
    await running(node(), 'guaranteed')
    expect(await scoreOf('guaranteed')).toBe(-997)
    await endPods(node(), 'guaranteed')
  })
})
