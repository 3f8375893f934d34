// Every setting with its value and where the value came from.
import { useState } from 'preact/hooks'
import type { LiveSetting, Part } from '../../core/dashboard/model.js'
import { Columns } from './columns.js'
import { Scroll } from './scroll.js'

export function ConfigView({ config }: { readonly config: Part<readonly LiveSetting[]> }) {
  const [filter, setFilter] = useState('')
  const [onlySet, setOnlySet] = useState(false)
  if ('absent' in config)
    return (
      <>
        <h1>Configuration</h1>
        <p class="empty">{config.absent}</p>
      </>
    )
  const words = filter.toLowerCase()
  const shown = config.data.filter(
    (s) => `${s.path} ${s.value}`.toLowerCase().includes(words) && (!onlySet || s.origin !== 'default'),
  )
  return (
    <>
      <div class="bar-of-tools">
        <h1>
          Configuration <span class="count">{shown.length}</span>
        </h1>
        <label>
          Find <input type="search" value={filter} onInput={(e) => setFilter(e.currentTarget.value)} />
        </label>
        <label>
          <input type="checkbox" checked={onlySet} onChange={(e) => setOnlySet(e.currentTarget.checked)} />{' '}
          hide defaults
        </label>
      </div>
      {shown.length === 0 ? (
        <p class="empty">No settings match.</p>
      ) : (
        <Scroll label="Settings">
          <table>
            <Columns names={['Setting', 'Value', 'From']} />
            <tbody>
              {shown.map((s) => (
                <tr key={s.path} data-setting={s.path}>
                  <th scope="row">
                    <code>{s.path}</code>
                  </th>
                  <td class="path">{s.value === '' ? <span class="dim">not set</span> : s.value}</td>
                  <td class={s.origin === 'default' ? 'dim' : 'path'}>{s.origin}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  )
}
