// Our own pages of the doctor: headings, paragraphs, lists and blocks of code. Nothing of it is inserted as HTML.
import { Words } from './words.js'

/** Blocks are separated by empty lines, except in code. */
const blocksOf = (text: string): string[] =>
  (text.match(/```[\s\S]*?```|(?:(?!```)[^\n]+\n?)+/g) ?? []).map((block) => block.trimEnd())

export const Markdown = ({ text }: { readonly text: string }) => (
  <div class="markdown">
    {blocksOf(text).map((block, i) => (
      <Block key={i} block={block} />
    ))}
  </div>
)

/** `[text](file.md)` -> text: the pages it leads to are not all served. */
const withoutLinks = (text: string): string => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')

function Block({ block }: { readonly block: string }) {
  const [first = '', ...rest] = block.split('\n')
  const heading = /^#+ (.*)$/.exec(first)?.[1]
  if (heading !== undefined) return <h3>{heading}</h3>
  if (first.startsWith('```'))
    return (
      <pre>
        <code>{rest.slice(0, -1).join('\n')}</code>
      </pre>
    )
  if (/^ {4}/.test(first))
    return (
      <pre>
        <code>{block.replace(/^ {4}/gm, '')}</code>
      </pre>
    )
  if (/^[-*] /.test(first))
    return (
      <ul>
        {block.split(/\n(?=[-*] )/).map((item) => (
          <li key={item}>
            <Words text={withoutLinks(item.slice(2).replaceAll('\n', ' '))} />
          </li>
        ))}
      </ul>
    )
  return (
    <p>
      <Words text={withoutLinks(block.replaceAll('\n', ' '))} />
    </p>
  )
}
