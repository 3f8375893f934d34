// One pod in full: its bars, its curves, its cgroups, its containers and their logs.
import { hasList, type LiveContainer, type LivePod } from '../../core/dashboard/model.js'
import { Chart } from '../chart.js'
import {
  ageText,
  bytesRate,
  bytesText,
  exactTitle,
  milliText,
  percentText,
  podsUnknown,
  rateText,
} from '../format.js'
import type { History } from '../history.js'
import { OverTime } from '../range.js'
import type { Picture } from '../store.js'
import { Columns } from './columns.js'
import { Events } from './events.js'
import { Logs } from './logs.js'
import { BarLegend, MemoryBar, scaleOf } from './memory-bar.js'
import { Next } from './next.js'
import { Scroll } from './scroll.js'
import { CgroupTable } from './tree.js'

interface PodProps {
  readonly picture: Picture
  readonly history: History
  readonly namespace: string
  readonly name: string
  readonly now: number
}

export function PodView({ picture, history, namespace, name, now }: PodProps) {
  const pod = picture.pods.find((p) => p.namespace === namespace && p.name === name)
  if (pod === undefined)
    return (
      <>
        <Heading namespace={namespace} name={name} />
        <p class="empty">
          {hasList(picture.runtime) ? 'This pod is not on the node.' : podsUnknown}{' '}
          <a href="#/overview">All pods</a>
        </p>
      </>
    )
  const scale = scaleOf(pod)
  const rows =
    'data' in picture.cgroups
      ? picture.cgroups.data.filter((r) => pod.cgroup !== null && r.path.startsWith(pod.cgroup))
      : []
  return (
    <>
      <Heading namespace={namespace} name={name} />
      <p class="facts">
        {pod.qosClass !== null && <span class="chip">{pod.qosClass}</span>} {pod.phase} since{' '}
        {ageText(pod.createdAt, now)} · {pod.restarts} {pod.restarts === 1 ? 'restart' : 'restarts'} · values
        from {pod.source === 'cgroup' ? 'its cgroup' : pod.source === 'cri' ? 'the runtime' : 'no source'} ·{' '}
        <span class="path">{pod.cgroup ?? 'no cgroup found'}</span>
      </p>
      <section class="panel" aria-label="Memory">
        <Next next={pod.next} />
        <MemoryBar memory={pod.values.memory} label={`Memory of pod ${name}`} scale={scale} />
        {pod.containers.map((c) => (
          <div key={c.id} data-container={c.name} class="container tall">
            <h3>{c.name}</h3>
            <Next next={c.next} />
            <MemoryBar memory={c.values.memory} label={`Memory of container ${c.name}`} scale={scale} />
          </div>
        ))}
        <BarLegend />
      </section>
      <PodCharts pod={pod} picture={picture} history={history} />
      <Containers pod={pod} />
      <section aria-labelledby="pod-cgroups">
        <h2 id="pod-cgroups">Cgroups</h2>
        {'absent' in picture.cgroups ? (
          <p class="empty">{picture.cgroups.absent}</p>
        ) : (
          <CgroupTable rows={rows} exact={false} />
        )}
      </section>
      {picture.server.process === 'kubelet' && <Events pod={pod} now={now} />}
      <Logs pod={pod} />
    </>
  )
}

const Heading = ({ namespace, name }: { readonly namespace: string; readonly name: string }) => (
  <>
    <p class="crumb">
      <a href="#/overview">← All pods</a>
    </p>
    <h1>
      <span class="dim">{namespace}/</span>
      {name}
    </h1>
  </>
)

function PodCharts({
  pod,
  picture,
  history,
}: {
  readonly pod: LivePod
  readonly picture: Picture
  readonly history: History
}) {
  const { memory, io } = pod.values
  return (
    <OverTime history={history} of={pod.id}>
      {(track) => (
        <>
          <Chart
            title="Working set"
            times={track.times}
            curves={[{ label: 'working set', color: '--set', values: track.workingSet }]}
            format={(v) => (v === null ? '–' : bytesText(String(Math.round(v))))}
            absent={memory === null ? 'The memory values are not readable.' : null}
          />
          <Chart
            title="Throttling: memory.high events per second"
            times={track.times}
            curves={[{ label: 'throttles/s', color: '--high', values: track.throttles }]}
            format={rateText}
            absent={
              memory?.highEvents === null || memory === null ? 'memory.high events need cgroup v2.' : null
            }
          />
          <Chart
            title="Pressure (PSI): share of time that its tasks waited"
            times={track.times}
            curves={[
              { label: 'memory', color: '--set', values: track.memoryPressure },
              { label: 'CPU', color: '--min', values: track.cpuPressure },
              { label: 'I/O', color: '--high', values: track.ioPressure },
            ]}
            format={percentText}
            absent={
              pod.values.pressure === null
                ? (picture.node.noPressure ?? 'The kernel does not report pressure for this cgroup.')
                : null
            }
          />
          <Chart
            title="CPU"
            times={track.times}
            curves={[{ label: 'CPU', color: '--min', values: track.cpu }]}
            format={milliText}
            absent={pod.values.cpu === null ? 'The CPU values are not readable.' : null}
          />
          <Chart
            title="Network of the pod"
            times={track.times}
            curves={[
              { label: 'in', color: '--set', values: track.received },
              { label: 'out', color: '--high', values: track.sent },
            ]}
            format={bytesRate}
            absent={
              pod.network === null
                ? 'Unknown: the pod is in the network of the host, or has no interface.'
                : null
            }
          />
          <Chart
            title="Disk"
            times={track.times}
            curves={[
              { label: 'read', color: '--set', values: track.read },
              { label: 'written', color: '--high', values: track.written },
            ]}
            format={bytesRate}
            absent={io === null ? 'Unknown: io.stat is a file of cgroup v2.' : null}
          />
        </>
      )}
    </OverTime>
  )
}

const requestText = ({ request }: LiveContainer): string =>
  request.memory === null ? 'unknown' : request.from === 'spec' ? '' : `read from ${request.from ?? ''}`

function Containers({ pod }: { readonly pod: LivePod }) {
  return (
    <section aria-labelledby="pod-containers">
      <h2 id="pod-containers">Containers</h2>
      <Scroll label="Containers">
        <table>
          <Columns
            names={[
              'Container',
              'Image',
              'CPU #',
              'CPU request #',
              'CPU throttled #',
              'Memory request #',
              'OOM kills #',
              'Read #',
              'Written #',
            ]}
          />
          <tbody>
            {pod.containers.map((c) => (
              <tr key={c.id}>
                <th scope="row">{c.name}</th>
                <td class="path">{c.image}</td>
                <td class="n">{milliText(c.values.cpu?.milli)}</td>
                <td class="n">{milliText(c.request.cpuMilli)}</td>
                <td class="n">{percentText(c.values.cpu?.throttledPercent)}</td>
                <td class="n" title={exactTitle(c.request.memory)}>
                  {bytesText(c.request.memory)} <span class="dim">{requestText(c)}</span>
                </td>
                <td class="n">{c.values.memory?.oomKills ?? '–'}</td>
                <td class="n">{bytesRate(c.values.io?.readPerSecond)}</td>
                <td class="n">{bytesRate(c.values.io?.writePerSecond)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p class="dim">
        Network:{' '}
        {pod.network === null
          ? 'unknown'
          : `in ${bytesRate(pod.network.rxPerSecond)}, out ${bytesRate(pod.network.txPerSecond)}`}
      </p>
    </section>
  )
}
