// The cgroup tree: what was intended, what is written in the files, and what the kernel keeps of it below all ancestors.
import { useState } from 'preact/hooks'
import type { LiveCgroupRow, LiveValue, Part } from '../../core/dashboard/model.js'
import { bytesText, exactTitle } from '../format.js'
import { memo } from '../memo.js'
import { Columns } from './columns.js'
import { Scroll } from './scroll.js'

const shownAtFirst = 200

export function TreeView({ cgroups }: { readonly cgroups: Part<readonly LiveCgroupRow[]> }) {
  const [filter, setFilter] = useState('')
  const [exact, setExact] = useState(false)
  const [onlyOdd, setOnlyOdd] = useState(false)
  const [showsAll, setShowsAll] = useState(false)
  if ('absent' in cgroups)
    return (
      <>
        <h1>Cgroup tree</h1>
        <p class="empty">{cgroups.absent}</p>
      </>
    )
  const words = filter.toLowerCase()
  const found = cgroups.data.filter(
    (r) =>
      (r.title.toLowerCase().includes(words) || r.path.toLowerCase().includes(words)) &&
      (!onlyOdd || r.files.some(isOdd)),
  )
  const shown = showsAll ? found : found.slice(0, shownAtFirst)
  return (
    <>
      <div class="bar-of-tools">
        <h1>
          Cgroup tree <span class="count">{found.length}</span>
        </h1>
        <label>
          Find <input type="search" value={filter} onInput={(e) => setFilter(e.currentTarget.value)} />
        </label>
        <label>
          <input type="checkbox" checked={onlyOdd} onChange={(e) => setOnlyOdd(e.currentTarget.checked)} />{' '}
          only differences
        </label>
        <label>
          <input type="checkbox" checked={exact} onChange={(e) => setExact(e.currentTarget.checked)} /> exact
          bytes
        </label>
      </div>
      <p class="dim">
        The large value is in the file. Below it are the value that Memory QoS <em>intends</em> and the{' '}
        <em>effective</em> value, if an ancestor changes it: ancestors cap protection, and the lowest
        memory.high and memory.max of all ancestors apply.
      </p>
      <CgroupTable rows={shown} exact={exact} />
      {shown.length < found.length && (
        <button type="button" onClick={() => setShowsAll(true)}>
          Show the other {found.length - shown.length}
        </button>
      )}
    </>
  )
}

const isOtherThanIntended = (v: LiveValue): boolean => v.intended !== null && v.intended !== v.written
/** A value of 0 or max takes nothing away that an ancestor could. */
const isCapped = (v: LiveValue): boolean => v.cappedBy !== null && v.effective !== v.written
const isOdd = (v: LiveValue): boolean => isOtherThanIntended(v) || isCapped(v)

interface TableProps {
  readonly rows: readonly LiveCgroupRow[]
  readonly exact: boolean
}

export function CgroupTable({ rows, exact }: TableProps) {
  if (rows.length === 0) return <p class="empty">No cgroups.</p>
  const top = rows.reduce((least, r) => Math.min(least, r.depth), 99)
  return (
    <Scroll label="Cgroups and their memory files">
      <table class="tree">
        <Columns
          names={['Cgroup', 'Usage #', 'memory.min #', 'memory.low #', 'memory.high #', 'memory.max #']}
        />
        <tbody>
          {rows.map((row) => (
            <Row key={row.path} row={row} exact={exact} top={top} />
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

interface RowProps {
  readonly row: LiveCgroupRow
  readonly exact: boolean
  readonly top: number
}

const Row = memo(({ row, exact, top }: RowProps) => (
  <tr data-cgroup={row.path}>
    <th
      scope="row"
      class="cgroup"
      style={{ paddingLeft: `${(row.depth - top) * 1.25 + 0.5}rem` }}
      title={row.path}
    >
      {row.title}
    </th>
    <td class="n" data-name="usage" title={exactTitle(row.usage)}>
      {bytesText(row.usage, exact)}
    </td>
    {row.files.map((v) => (
      <Value key={v.file} value={v} exact={exact} />
    ))}
  </tr>
))

/** `/kubepods/burstable/pod1234...` -> `its pod`: names of units and directories are long, and their titles are above. */
function nameOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.slice$/, '')
  return /pod[0-9a-f]{8}/.test(name) ? 'its pod' : name.slice(name.lastIndexOf('-') + 1)
}

const Value = ({ value: v, exact }: { readonly value: LiveValue; readonly exact: boolean }) => (
  <td
    class={`n value ${isOtherThanIntended(v) ? 'other' : ''}`}
    data-file={v.file}
    data-name={v.file}
    title={v.reason ?? ''}
  >
    <span class="written" title={exactTitle(v.written)}>
      {bytesText(v.written, exact)}
    </span>
    {v.intended !== null && (
      <span class="intended">
        {isOtherThanIntended(v) ? `≠ intended ${bytesText(v.intended, exact)}` : '✓ as intended'}
      </span>
    )}
    {isCapped(v) && (
      <span class="effective" title={v.cappedBy ?? ''}>
        effective {bytesText(v.effective, exact)}
        {v.cappedBy === null ? '' : `, by ${nameOf(v.cappedBy)}`}
      </span>
    )}
  </td>
)
