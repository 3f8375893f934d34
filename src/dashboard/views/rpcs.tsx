// The calls that went through the CRI server, and what became of them.
import { useState } from 'preact/hooks'
import type { LiveRpc, Part } from '../../core/dashboard/model.js'
import { Scroll } from './scroll.js'
import { Words } from './words.js'

const columns = [
  ['rpc', 'Call', 'name of the RPC'],
  ['forwarded', 'Forwarded', 'forwarded unchanged'],
  ['completed', 'Completed', 'the runtime responded, and missing values were added'],
  ['answered', 'Answered', 'answered by the CRI server, because the runtime does not implement it'],
  ['failed', 'Failed', 'ended with another status than OK'],
  ['missing', 'Unimplemented', 'the runtime returned UNIMPLEMENTED'],
  ['p50Ms', 'p50 ms', '50 % of the calls took at most this long'],
  ['p99Ms', 'p99 ms', '99 % of the calls took at most this long'],
] as const satisfies readonly (readonly [keyof LiveRpc, string, string])[]

type Column = (typeof columns)[number][0]

const calls = (r: LiveRpc): number => r.forwarded + r.completed + r.answered

export function RpcView({ rpcs }: { readonly rpcs: Part<readonly LiveRpc[]> }) {
  const [by, setBy] = useState<Column>('forwarded')
  if ('absent' in rpcs)
    return (
      <>
        <h1>CRI calls</h1>
        <p class="empty">
          <Words text={rpcs.absent} />
        </p>
      </>
    )
  const value = (r: LiveRpc): number => (by === 'rpc' ? 0 : by === 'forwarded' ? calls(r) : r[by])
  const rows = rpcs.data.toSorted((a, b) => value(b) - value(a) || (a.rpc < b.rpc ? -1 : 1))
  return (
    <>
      <h1>
        CRI calls <span class="count">{rows.reduce((sum, r) => sum + calls(r), 0)}</span>
      </h1>
      {rows.length === 0 ? (
        <p class="empty">No calls yet.</p>
      ) : (
        <Scroll label="Calls">
          <table>
            <thead>
              <tr>
                {columns.map(([key, title, about]) => (
                  <th
                    key={key}
                    scope="col"
                    class={key === 'rpc' ? '' : 'n'}
                    {...(by === key ? { 'aria-sort': 'descending' as const } : {})}
                  >
                    <button type="button" class="sort" title={about} onClick={() => setBy(key)}>
                      {title}
                    </button>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((r) => (
                <tr key={r.rpc} data-rpc={r.rpc}>
                  {columns.map(([key]) =>
                    key === 'rpc' ? (
                      <th key={key} scope="row">
                        <code>{r.rpc}</code>
                      </th>
                    ) : (
                      <td key={key} class="n" data-column={key}>
                        {r[key]}
                      </td>
                    ),
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  )
}
