// Which cgroup driver is used, who said so, and what stands for and against it.
import type { LiveDriver, LiveNode, LiveRuntime, Part } from '../../core/dashboard/model.js'
import { runtimeWords } from '../format.js'
import { Words } from './words.js'

const sources: Readonly<Record<string, string>> = {
  cri: 'The runtime itself says so (RuntimeConfig, KEP-4033).',
  flag: 'A flag of the command line says so.',
  dropin: 'A drop-in file of the configuration says so.',
  config: 'The configuration file says so.',
  default: 'Nobody says so: it is the default.',
}

interface DriverProps {
  readonly driver: Part<LiveDriver>
  readonly node: LiveNode
  readonly runtime: LiveRuntime
}

export function DriverView({ driver, node, runtime }: DriverProps) {
  return (
    <>
      <h1>Where the cgroup driver came from</h1>
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
        <Pair name="pressure (PSI)" value={node.noPressure ?? 'the kernel keeps it'} />
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
        {d.driver ?? 'not known'}
      </div>
      <p>{sources[d.source] ?? `From: ${d.source}`}</p>
      {d.fallback !== null && (
        <p>
          The runtime was asked and did not say ({d.fallback}); the configured value is used. A future release
          will not start with this runtime.
        </p>
      )}
      {d.overruled !== null && <p>The setting {d.overruled} is not used: the runtime’s word beats it.</p>}
      {d.runtimeDiffers !== null && (
        <p>
          <strong>The runtime now says {d.runtimeDiffers}.</strong> Restart this process, or set the runtime
          back.
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
          <h3>What was seen</h3>
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
