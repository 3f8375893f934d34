// The node at a glance: how full, how pressed, what needs attention, and its pods.
import type { ComponentChildren } from 'preact'
import { hasList, type LiveCluster } from '../../core/dashboard/model.js'
import { Chart } from '../chart.js'
import { bytesText, exactTitle, milliText, nothing, percentText, rateText, runtimeWords } from '../format.js'
import type { History } from '../history.js'
import { OverTime } from '../range.js'
import type { Picture } from '../store.js'
import { Pods } from './pods.js'

interface OverviewProps {
  readonly picture: Picture
  readonly history: History
}

export function Overview({ picture, history, now }: OverviewProps & { readonly now: number }) {
  return (
    <>
      <h1 class="unseen">Overview of {picture.node.name}</h1>
      <NodeCards picture={picture} />
      <Charts picture={picture} history={history} />
      <Pods pods={picture.pods} runtime={picture.runtime} now={now} />
    </>
  )
}

interface CardProps {
  readonly title: string
  readonly value: ComponentChildren
  readonly children?: ComponentChildren
  /** 0 to 1. */
  readonly full?: number
  readonly level?: 'calm' | 'watch' | 'act'
}

const Card = ({ title, value, children, full, level = 'calm' }: CardProps) => (
  <div class={`panel card ${level}`}>
    <h2>{title}</h2>
    <div class="big">{value}</div>
    {full !== undefined && (
      <div class="meter" role="img" aria-label={`${title}: ${Math.round(full * 100)} % used`}>
        <span style={{ width: `${Math.min(100, full * 100).toFixed(1)}%` }} />
      </div>
    )}
    <div class="dim">{children}</div>
  </div>
)

/** Ready as the API server has it: what the scheduler goes by. */
const ClusterCard = ({ cluster }: { readonly cluster: LiveCluster }) => (
  <Card
    title="Cluster"
    value={<span data-node="ready">{readyWords(cluster)}</span>}
    level={cluster.ready !== 'True' ? 'act' : cluster.problems.length > 0 ? 'watch' : 'calm'}
  >
    {cluster.problems.length > 0 ? cluster.problems.join('; ') : <span class="path">{cluster.server}</span>}
  </Card>
)

function readyWords({ ready, isSchedulable }: LiveCluster): string {
  if (ready === null) return 'not registered'
  const text = ready === 'True' ? 'Ready' : ready === 'False' ? 'NotReady' : 'Unknown'
  return isSchedulable ? text : `${text}, cordoned`
}

function NodeCards({ picture }: { readonly picture: Picture }) {
  const { node, pods, runtime, cluster, warnings } = picture
  const capacity = Number(node.memoryCapacity)
  const used = capacity - Number(node.memoryAvailable)
  const critical = pods.filter((p) => p.next.level === 'act').length
  const warning = pods.filter((p) => p.next.level === 'watch').length
  const found = 'data' in warnings ? warnings.data.filter((w) => w.severity !== 'info') : []
  return (
    <div class="cards">
      <Card
        title="Memory"
        value={<span data-node="memory">{bytesText(String(used))}</span>}
        full={used / capacity}
        level={used / capacity > 0.95 ? 'act' : used / capacity > 0.85 ? 'watch' : 'calm'}
      >
        used of{' '}
        <span data-node="capacity" title={exactTitle(node.memoryCapacity)}>
          {bytesText(node.memoryCapacity)}
        </span>
        , <span data-node="available">{bytesText(node.memoryAvailable)}</span> available
      </Card>
      <Card
        title="CPU"
        value={<span data-node="cpu">{milliText(node.cpuMilli)}</span>}
        {...(node.cpuMilli === null ? {} : { full: node.cpuMilli / (node.cpus * 1000) })}
      >
        of {node.cpus} {node.cpus === 1 ? 'processor' : 'processors'}
      </Card>
      <Card
        title="Pods"
        value={<span data-node="pods">{hasList(runtime) ? pods.length : nothing}</span>}
        level={critical > 0 ? 'act' : warning > 0 ? 'watch' : 'calm'}
      >
        {!hasList(runtime)
          ? 'unknown: the runtime has not listed them yet'
          : critical === 0 && warning === 0
            ? 'none near a memory limit or threshold'
            : `${critical} throttled or at the limit, ${warning} close to it`}
      </Card>
      <Card
        title="Pressure"
        value={
          node.pressure === null ? (
            'n/a'
          ) : (
            <span data-node="psi">{percentText(node.pressure.memory?.some)}</span>
          )
        }
      >
        {node.pressure === null
          ? 'this kernel does not report PSI'
          : `of the last 10 s spent waiting for memory; CPU ${percentText(node.pressure.cpu?.some)}, I/O ${percentText(node.pressure.io?.some)}`}
      </Card>
      <Card
        title="Runtime"
        value={runtimeWords[runtime.state]}
        level={runtime.state === 'away' ? 'act' : 'calm'}
      >
        <span class="path">{runtime.endpoint.replace(/^unix:\/\//, '')}</span>
      </Card>
      {'data' in cluster && <ClusterCard cluster={cluster.data} />}
      <Card
        title="Doctor"
        value={'data' in warnings ? found.length : '…'}
        level={found.some((w) => w.severity === 'error') ? 'act' : found.length > 0 ? 'watch' : 'calm'}
      >
        {'absent' in warnings ? (
          warnings.absent
        ) : (
          <a href="#/doctor">{found.length === 0 ? 'no warnings' : 'show warnings'}</a>
        )}
      </Card>
    </div>
  )
}

function Charts({ picture, history }: OverviewProps) {
  const isV2 = picture.node.cgroupVersion === 'v2'
  return (
    <OverTime history={history} of={undefined}>
      {(node) => (
        <>
          <Chart
            title="Memory: working set of all pods"
            times={node.times}
            curves={[{ label: 'working set', color: '--set', values: node.workingSet }]}
            format={bytesOf}
            absent={null}
          />
          <Chart
            title="CPU of the node"
            times={node.times}
            curves={[{ label: 'CPU', color: '--min', values: node.cpu }]}
            format={milliText}
            absent={null}
          />
          <Chart
            title="Throttling: memory.high events per second"
            times={node.times}
            curves={[{ label: 'all pods', color: '--high', values: node.throttles }]}
            format={rateText}
            absent={
              isV2
                ? null
                : 'memory.high is a file of cgroup v2; this machine has v1, so nothing is throttled by it.'
            }
          />
          <Chart
            title="Pressure of the node (PSI): share of time that tasks waited"
            times={node.times}
            curves={[
              { label: 'memory', color: '--set', values: node.memoryPressure },
              { label: 'CPU', color: '--min', values: node.cpuPressure },
              { label: 'I/O', color: '--high', values: node.ioPressure },
            ]}
            format={percentText}
            absent={picture.node.noPressure}
          />
        </>
      )}
    </OverTime>
  )
}

const bytesOf = (value: number | null): string =>
  value === null ? nothing : bytesText(String(Math.round(value)))
