// The cgroup driver in use, its source, and the evidence for and against it.
import type { LiveDriver, LiveNode, LiveRuntime, Part } from '../../core/dashboard/model.js'
import { runtimeWords } from '../format.js'
import { Words } from './words.js'

const sources: Readonly<Record<string, string>> = {
  cri: 'Reported by the runtime (RuntimeConfig, KEP-4033).',
  flag: 'Set by a command line flag.',
  dropin: 'Set by a drop-in configuration file.',
  config: 'Set in the configuration file.',
  default: 'The default; it is not configured.',
}

interface DriverProps {
  readonly driver: Part<LiveDriver>
  readonly node: LiveNode
  readonly runtime: LiveRuntime
}

export function DriverView({ driver, node, runtime }: DriverProps) {
  return (
    <>
      <h1>Source of the cgroup driver</h1>
      {'absent' in driver ? (
        <p class="empty">
          <Words text={driver.absent} />
        </p>
      ) : (
        <Decision driver={driver.data} />
      )}
      <h2>The machine</h2>
      <dl class="pairs panel">
        <Pair name="kernel" value={node.kernel} />
        <Pair name="cgroups" value={node.cgroupVersion ?? 'none'} />
        <Pair name="pressure (PSI)" value={node.noPressure ?? 'available'} />
        <Pair name="runtime socket" value={runtime.endpoint} />
        <Pair name="runtime" value={runtime.problem ?? runtimeWords[runtime.state]} />
      </dl>
    </>
  )
}

const Pair = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)

function Decision({ driver: d }: { readonly driver: LiveDriver }) {
  return (
    <div
      class={`panel decision ${d.runtimeDiffers !== null || d.driver === null ? 'act' : d.fallback !== null ? 'watch' : 'calm'}`}
    >
      <div class="big" data-driver>
        {d.driver ?? 'unknown'}
      </div>
      <p>{sources[d.source] ?? `From: ${d.source}`}</p>
      {d.fallback !== null && (
        <p>
          Fallback to the configured value, because the runtime did not report its driver ({d.fallback}). A
          future release will not start with this runtime.
        </p>
      )}
      {d.overruled !== null && <p>The setting {d.overruled} is not used: the runtime overrides it.</p>}
      {d.runtimeDiffers !== null && (
        <p>
          <strong>The runtime now reports {d.runtimeDiffers}.</strong> Restart this process, or change the
          runtime back.
        </p>
      )}
      {d.agreeing !== null && (
        <p>
          {d.agreeing === 0
            ? 'No running sandbox to compare with.'
            : `${d.agreeing} running ${d.agreeing === 1 ? 'sandbox agrees' : 'sandboxes agree'} with it.`}
        </p>
      )}
      {d.evidence.length > 0 && (
        <>
          <h3>Evidence</h3>
          <ul>
            {d.evidence.map((e) => (
              <li key={e}>
                <Words text={e} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
