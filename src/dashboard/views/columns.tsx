// The head of a table.

/** A name ends in ` #` where numbers stand below it: they are set to the right. */
export const Columns = ({ names }: { readonly names: readonly string[] }) => (
  <thead>
    <tr>
      {names.map((name) => {
        const text = name.replace(/ #$/, '')
        return (
          <th key={text} scope="col" class={text === name ? '' : 'n'}>
            {text}
          </th>
        )
      })}
    </tr>
  </thead>
)
