// Where values come from, endpoint by endpoint, and how much of what KEP-2371 asks for is there.
import {
  hasList,
  type LivePod,
  type LiveRuntime,
  type LiveSources,
  type Part,
} from '../../core/dashboard/model.js'
import { podsUnknown } from '../format.js'
import { Columns } from './columns.js'
import { Scroll } from './scroll.js'

interface MetricsProps {
  readonly sources: Part<LiveSources>
  readonly pods: readonly LivePod[]
  readonly runtime: LiveRuntime
}

const states: Readonly<Record<string, string>> = {
  'in-use': 'in use',
  unsupported: 'not implemented by the runtime: fallback to cgroups',
  failing: 'the runtime fails: fallback to cgroups',
  unknown: 'not called yet',
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
      <h1>Sources of stats and metrics</h1>
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

function Sources({ sources: { fromCri, endpoints, parity, repaired } }: { readonly sources: LiveSources }) {
  return (
    <>
      <p>
        {fromCri === null
          ? 'The CRI server forwards the values of the runtime and reads missing values from cgroups.'
          : fromCri
            ? 'PodAndContainerStatsFromCRI is on: values come from the runtime, with a fallback to cgroups.'
            : 'PodAndContainerStatsFromCRI is off: values come from cgroups; the runtime only lists pods and containers.'}
      </p>
      <Scroll label="Endpoints and their sources">
        <table>
          <Columns names={['Endpoint', 'Source now', 'Runtime']} />
          <tbody>
            {endpoints.map((e) => (
              <tr key={e.endpoint} data-endpoint={e.endpoint}>
                <th scope="row">
                  <code>{e.endpoint}</code>
                </th>
                <td>{e.source === null ? 'none yet' : (sourceWords[e.source] ?? e.source)}</td>
                <td>{e.runtime === null ? 'not used' : (states[e.runtime] ?? e.runtime)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {parity !== null && <Parity {...parity} />}
      {repaired.length > 0 && <Repaired rows={repaired} />}
    </>
  )
}

const Repaired = ({ rows }: { readonly rows: LiveSources['repaired'] }) => (
  <>
    <h2>Repaired values</h2>
    <p>Wrong values of the runtime that were read from the kernel instead, or left out.</p>
    <Scroll label="Repaired values of the runtime">
      <table>
        <Columns names={['Runtime', 'Family or field', 'Reason', 'Values']} />
        <tbody>
          {rows.map((r) => (
            <tr key={`${r.runtime} ${r.version} ${r.family} ${r.reason}`} data-repaired={r.reason}>
              <td>
                {r.runtime} {r.version}
              </td>
              <td>
                <code>{r.family}</code>
              </td>
              <td>{r.reason}</td>
              <td>{r.count}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  </>
)

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
        <summary>{absent.length} missing: this kernel or these pods do not have them</summary>
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
