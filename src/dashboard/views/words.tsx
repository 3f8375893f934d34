// Text of the server, in which `backticks` stand around what a person types or reads in a file.

/** `a` outside, `b` inside: split at the backticks, every second piece is code. One without a partner stays as it is. */
export function Words({ text }: { readonly text: string }) {
  const pieces = text.split('`')
  if (pieces.length % 2 === 0) return <>{text}</>
  return <>{pieces.map((piece, i) => (i % 2 === 0 ? piece : <code key={i}>{piece}</code>))}</>
}
