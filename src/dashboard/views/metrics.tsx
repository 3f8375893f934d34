// Where values come from, endpoint by endpoint, and how much of what KEP-2371 asks for is there.
import {
  hasList,
  type LivePod,
  type LiveRuntime,
  type LiveSources,
  type Part,
} from '../../core/dashboard/model.js'
import { podsUnknown } from '../format.js'
import { Scroll } from './scroll.js'

interface MetricsProps {
  readonly sources: Part<LiveSources>
  readonly pods: readonly LivePod[]
  readonly runtime: LiveRuntime
}

const states: Readonly<Record<string, string>> = {
  'in-use': 'the runtime answers',
  unsupported: 'the runtime does not have it: cgroups are read instead',
  failing: 'the runtime fails: cgroups are read instead',
  unknown: 'not asked yet',
}

const sourceWords: Readonly<Record<string, string>> = {
  'cri-server': 'the runtime, completed from cgroups',
  cri: 'the runtime (CRI)',
  cgroup: 'cgroups',
}

export function MetricsView({ sources, pods, runtime }: MetricsProps) {
  const from = (source: string): number => pods.filter((p) => p.source === source).length
  return (
    <>
      <h1>Where the values come from</h1>
      {'absent' in sources ? <p class="empty">{sources.absent}</p> : <Sources sources={sources.data} />}
      <h2>This page</h2>
      <p>
        {hasList(runtime)
          ? `Pods read from their cgroups: ${from('cgroup')}; from the runtime: ${from('cri')}; without values: ${from('none')}.`
          : podsUnknown}
      </p>
    </>
  )
}

function Sources({ sources: { fromCri, endpoints, parity } }: { readonly sources: LiveSources }) {
  return (
    <>
      <p>
        {fromCri === null
          ? 'The CRI server passes the runtime’s own values on and reads from cgroups what the runtime lacks.'
          : fromCri
            ? 'PodAndContainerStatsFromCRI is on: the runtime is asked first, and cgroups are read where it does not answer.'
            : 'PodAndContainerStatsFromCRI is off: cgroups are read, and the runtime is asked for lists only.'}
      </p>
      <Scroll label="Endpoints and their sources">
        <table>
          <thead>
            <tr>
              <th scope="col">Endpoint</th>
              <th scope="col">Now from</th>
              <th scope="col">The runtime’s part</th>
            </tr>
          </thead>
          <tbody>
            {endpoints.map((e) => (
              <tr key={e.endpoint} data-endpoint={e.endpoint}>
                <th scope="row">
                  <code>{e.endpoint}</code>
                </th>
                <td>{e.source === null ? 'nothing yet' : (sourceWords[e.source] ?? e.source)}</td>
                <td>{e.runtime === null ? 'not asked' : (states[e.runtime] ?? e.runtime)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {parity !== null && <Parity {...parity} />}
    </>
  )
}

const Parity = ({ present, absent }: NonNullable<LiveSources['parity']>) => (
  <>
    <h2>Parity</h2>
    <p data-parity>
      <b>{present}</b> of the {present + absent.length} metrics that KEP-2371 names are on{' '}
      <code>/metrics/cadvisor</code> now. <code>keelson doctor parity</code> compares their values between
      both sources.
    </p>
    {absent.length > 0 && (
      <details>
        <summary>
          The {absent.length} that are not there: this kernel, or these pods, have no such value
        </summary>
        <ul class="names">
          {absent.map((name) => (
            <li key={name}>
              <code>{name}</code>
            </li>
          ))}
        </ul>
      </details>
    )}
  </>
)
