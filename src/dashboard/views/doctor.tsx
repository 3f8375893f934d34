// What the doctor found on this node, each with its evidence, what to do, and the page that explains it.
import { useState } from 'preact/hooks'
import type { LiveWarning, Part } from '../../core/dashboard/model.js'
import { Markdown } from './markdown.js'
import { Words } from './words.js'

const levels = { error: 'act', warn: 'watch', info: 'calm' } as const
const words = { error: 'error', warn: 'warning', info: 'note' } as const

export function DoctorView({ warnings }: { readonly warnings: Part<readonly LiveWarning[]> }) {
  return (
    <>
      <h1>Doctor</h1>
      <p class="dim">
        The checks of <code>keelson doctor</code>, repeated every minute while this page is open.
      </p>
      {'absent' in warnings ? (
        <p class="empty">
          <Words text={warnings.absent} />
        </p>
      ) : warnings.data.length === 0 ? (
        <p class="empty">No problems found.</p>
      ) : (
        <ul class="findings">
          {warnings.data.map((w) => (
            <Finding key={`${w.id} ${w.message}`} warning={w} />
          ))}
        </ul>
      )}
    </>
  )
}

const Finding = ({ warning: w }: { readonly warning: LiveWarning }) => (
  <li class={`panel finding ${levels[w.severity]}`} data-finding={w.id}>
    <p class={`next ${levels[w.severity]}`}>
      <span class="level">{words[w.severity]}</span>{' '}
      <strong>
        <Words text={w.message} />
      </strong>
    </p>
    {w.remedy !== '' && (
      <p class="remedy">
        <b>Fix:</b> <Words text={w.remedy} />
      </p>
    )}
    {w.evidence.length > 0 && (
      <details>
        <summary>Evidence</summary>
        <ul>
          {w.evidence.map((e) => (
            <li key={e}>
              <code>{e}</code>
            </li>
          ))}
        </ul>
      </details>
    )}
    <Page check={w.id} />
  </li>
)

async function readPage(check: string): Promise<string> {
  const response = await fetch(`/live/doctor/${encodeURIComponent(check)}`)
  return response.ok ? await response.text() : `The server responded with ${response.status}.`
}

function Page({ check }: { readonly check: string }) {
  const [text, setText] = useState<string>()
  const open = (): void => {
    if (text === undefined)
      void readPage(check).then(setText, (e: unknown) => setText(`The page could not be read: ${String(e)}`))
  }
  return (
    <details class="page" onToggle={open}>
      <summary>
        What the check <code>{check}</code> means
      </summary>
      {text === undefined ? <p class="dim">Reading …</p> : <Markdown text={text} />}
    </details>
  )
}
