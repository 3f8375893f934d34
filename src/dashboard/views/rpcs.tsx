// The calls that went through the CRI server, and what became of them.
import { useState } from 'preact/hooks'
import type { LiveRpc, Part } from '../../core/dashboard/model.js'
import { Scroll } from './scroll.js'
import { Words } from './words.js'

const columns = [
  ['rpc', 'Call', 'name of the RPC'],
  ['forwarded', 'Forwarded', 'passed on untouched'],
  ['completed', 'Completed', 'the runtime answered, and something was added'],
  ['answered', 'Answered', 'answered here, because the runtime does not have it'],
  ['failed', 'Failed', 'did not end with OK'],
  ['missing', 'Unimplemented', 'the runtime said that it does not have the call'],
  ['p50Ms', 'p50 ms', 'half of the calls were at least this fast'],
  ['p99Ms', 'p99 ms', 'all but one in a hundred were at least this fast'],
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
        <p class="empty">No client has called yet.</p>
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
