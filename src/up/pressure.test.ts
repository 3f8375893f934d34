// The comparison under pressure over fakes: both phases on one node plan, what is printed, and how it ends when it cannot begin.
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../config/load.js'
import { readManifest } from '../config/read-manifest.js'
import { applyPodDefaults } from '../core/pod/defaults.js'
import type { PodJson } from '../core/pod/document.js'
import { parsePod } from '../core/pod/parse-pod.js'
import { qosClassOf } from '../core/pod/qos-class.js'
import { directoriesBelow, formatKubeletConfig } from './kubelet-config.js'
import type { NodePlan } from './node.js'
import { runPressure } from './pressure.js'
import { cachePod, hogPod, noisePod, podsMemory } from './pressure-pods.js'
import { createProgress } from './progress.js'
import type { Part, PodValues, UpPorts } from './up-ports.js'

const MiB = 1024n * 1024n
const never = new AbortController().signal
const directories = directoriesBelow('/run/x')
const node: NodePlan = {
  directories,
  settings: {
    ports: { kubelet: 10250, healthz: 10248 },
    memoryQos: true,
    reservedMemory: 2048n * MiB - podsMemory,
  },
  manifests: [],
  readyMs: 60_000,
  place: { network: false, images: [], reported: false },
  url: 'https://127.0.0.1:10250',
  inside: true,
  logDir: '/run/x',
}

const pod = (name: string): PodJson => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `${name}-node`, namespace: 'default', uid: name, creationTimestamp: null },
  spec: { nodeName: 'node' },
  status: {
    phase: 'Running',
    conditions: [],
    startTime: '',
    qosClass: 'Burstable',
    containerStatuses: [
      {
        name: 'main',
        state: {},
        lastState: {},
        ready: true,
        started: true,
        restartCount: 0,
        image: '',
        imageID: '',
        containerID: `containerd://${name}`,
      },
    ],
  },
})

/** A node whose kernel keeps the cache as long as Memory QoS is on, and loses 10 MiB of it a second otherwise. */
function createFixture(warm = true) {
  const done: string[] = []
  let now = 0
  let printed = ''
  let on = false
  let pods: PodJson[] = []
  let pressureSince = 0
  const part: Part = { ended: new Promise(() => {}), stop: async () => {} }
  const seconds = (): number => (pods.length > 1 ? (now - pressureSince) / 1000 : 0)
  const values = (uid: string): PodValues => {
    const s = BigInt(Math.floor(seconds()))
    if (uid === 'cache') {
      const lost = on ? 0n : s * 10n * MiB
      return {
        pageCache: warm ? 200n * MiB - (lost > 198n * MiB ? 198n * MiB : lost) : 0n,
        throttled: 0n,
        oomKills: 0n,
      }
    }
    if (uid === 'hog') return { pageCache: 0n, throttled: on ? s * 10n : 0n, oomKills: on ? 0n : s / 8n }
    return { pageCache: 0n, throttled: 0n, oomKills: s / 10n }
  }
  const ports: UpPorts = {
    async write(path, text) {
      const name = /([a-z]+)\.yaml$/.exec(path)?.[1] ?? ''
      if (name === 'kubelet') on = text.includes('MemoryQoS: true')
      else {
        pods = [...pods, pod(name)]
        if (name === 'hog') pressureSince = now
      }
      done.push(`write ${name}${name === 'kubelet' ? ` ${on ? 'on' : 'off'}` : ''}`)
    },
    async clear(path) {
      done.push(`clear ${path}`)
      if (path === directories.pods) pods = []
    },
    startCri: async () => part,
    startKubelet: async () => part,
    kubelet: async () => ({ pods: async () => pods, loginLink: async () => undefined }),
    memory: () => ({ min: on ? '240Mi' : '0', high: on ? '116.8Mi' : 'max', current: '0' }),
    values,
    sleep: async (ms) => {
      now += ms
    },
    nowMs: () => now,
  }
  const write = (text: string): void => {
    printed += text
  }
  const progress = createProgress({ write, startedMs: 0, nowMs: () => now })
  return {
    done,
    printed: () => printed,
    run: () => runPressure({ node, data: '/run/x/data', write }, ports, progress, never),
  }
}

describe('the comparison', () => {
  test('off, then on, with the same pods and a cache that is written anew', async () => {
    const fixture = createFixture()
    const { off, on } = await fixture.run()
    const phase = ['write cache', 'write hog', 'write noise', 'clear /run/x/pods', 'clear /run/x/data']
    expect(fixture.done).toEqual(['write kubelet off', ...phase, 'write kubelet on', ...phase])
    expect(off.samples.at(-1)).toMatchObject({ cacheShare: 0.01, hogThrottled: 0 })
    expect(on.samples.at(-1)).toMatchObject({ cacheShare: 1, hogKills: 0 })
  })

  test('the second phase is shown beside the first, and the table ends it', async () => {
    const fixture = createFixture()
    await fixture.run()
    expect(fixture.printed()).toMatch(/^ +2 s +90 % +0 +0 +0$/m)
    expect(fixture.printed()).toMatch(/^ +2 s +90 % +0 +0 +0 {2}\| +100 % +20 +0 +0$/m)
    expect(fixture.printed().slice(fixture.printed().indexOf('under memory'))).toBe(
      `${[
        'under memory pressure   Memory QoS off       on',
        'cache: memory.min                    0    240Mi',
        'cache: page cache kept             1 %    100 %',
        'hog: memory.high                   max  116.8Mi',
        'hog: times throttled                 0      240',
        'hog: OOM kills                       3        0',
        'noise: OOM kills                     2        2',
      ].join('\n')}\n`,
    )
  })

  test('a cache that never gets warm ends it, with the likely reason', async () => {
    await expect(createFixture(false).run()).rejects.toThrow(
      /0 % of its 200 MiB after 90 s; is its directory on a disk/,
    )
  })
})

test('the pods are of the three classes, and want more than the node has', () => {
  const classes = [cachePod('/d'), hogPod, noisePod].map((text) => {
    const [document] = readManifest({ path: 'x.yaml', bytes: new TextEncoder().encode(text) })
    return qosClassOf(applyPodDefaults(parsePod(document?.content)))
  })
  expect(classes).toEqual(['Guaranteed', 'Burstable', 'BestEffort'])
})

for (const memoryQos of [false, true])
  test(`the configuration is sound with Memory QoS ${memoryQos ? 'on' : 'off'}`, () => {
    const text = formatKubeletConfig(directories, { ...node.settings, memoryQos })
    const { config, problems, warnings } = loadConfig({
      kubelet: { path: 'kubelet.yaml', bytes: new TextEncoder().encode(text) },
    })
    expect([problems, warnings]).toEqual([[], []])
    expect(config.memoryQos.enabled).toBe(memoryQos)
  })
