// Many pods on one screen: a row each, with what kubectl and top would show of it.
import type { LivePod } from '../../core/dashboard/model.js'
import { ageText, bytesRate, bytesText, exactTitle, milliText, nothing } from '../format.js'
import { memo } from '../memo.js'
import { podLink } from '../route.js'
import { Columns } from './columns.js'
import { levelWords } from './next.js'
import { Scroll } from './scroll.js'

interface TableProps {
  readonly pods: readonly LivePod[]
  readonly now: number
}

export const PodTable = ({ pods, now }: TableProps) => (
  <Scroll label="Pods">
    <table class="compact">
      <Columns
        names={[
          'Pod',
          'State',
          'Phase',
          'Restarts #',
          'Age #',
          'Class',
          'CPU #',
          'Memory #',
          'Limit #',
          'Net in #',
          'Net out #',
          'Read #',
          'Written #',
          'Images',
        ]}
      />
      <tbody>
        {pods.map((pod) => (
          <Row key={pod.id} pod={pod} age={ageText(pod.createdAt, now)} />
        ))}
      </tbody>
    </table>
  </Scroll>
)

/** The lowest limit or threshold that its memory meets. */
const limitOf = ({ values: { memory }, containers }: LivePod): string | null => {
  const limits = [memory, ...containers.map((c) => c.values.memory)]
    .flatMap((m) => [m?.high ?? 'max', m?.max ?? 'max'])
    .filter((a) => a !== 'max')
    .toSorted((a, b) => Number(BigInt(a) - BigInt(b)))
  return limits[0] ?? (memory === null ? null : 'max')
}

/** `registry/path/name:tag` -> `name:tag`; the whole is in the title. */
const shortImage = (image: string): string =>
  image.startsWith('sha256:') ? image.slice(0, 15) : image.slice(image.lastIndexOf('/') + 1)

const Row = memo(({ pod, age }: { readonly pod: LivePod; readonly age: string }) => {
  const { values, network, containers } = pod
  const limit = limitOf(pod)
  return (
    <tr class={pod.next.level} data-pod={`${pod.namespace}/${pod.name}`}>
      <th scope="row">
        <a href={podLink(pod)} class="pod-name">
          <span class="dim">{pod.namespace}/</span>
          {pod.name}
        </a>
      </th>
      <td class={`next ${pod.next.level}`} title={pod.next.text}>
        <span class="level">{levelWords[pod.next.level]}</span>
      </td>
      <td data-cell="phase">{pod.phase}</td>
      <td class="n" data-cell="restarts">
        {pod.restarts}
      </td>
      <td class="n">{age}</td>
      <td>{pod.qosClass ?? nothing}</td>
      <td class="n" data-cell="cpu">
        {milliText(values.cpu?.milli)}
      </td>
      <td class="n" data-cell="memory" title={exactTitle(values.memory?.workingSet)}>
        {bytesText(values.memory?.workingSet)}
      </td>
      <td class="n" title={exactTitle(limit)}>
        {limit === 'max' ? 'none' : bytesText(limit)}
      </td>
      <td class="n">{bytesRate(network?.rxPerSecond)}</td>
      <td class="n">{bytesRate(network?.txPerSecond)}</td>
      <td class="n">{bytesRate(values.io?.readPerSecond)}</td>
      <td class="n">{bytesRate(values.io?.writePerSecond)}</td>
      <td class="images" title={containers.map((c) => c.image).join('\n')}>
        {[...new Set(containers.map((c) => shortImage(c.image)))].join(', ') || nothing}
      </td>
    </tr>
  )
})
