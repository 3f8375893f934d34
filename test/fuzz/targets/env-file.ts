// Files of variables that containers write (fileKeyRef): broken text either gives a value that is in the text, or nothing.
import { envFileValue } from '../../../src/kubelet/environment/decide/env-file.js'
import { mutateText } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

const full = "# one\nA='1'\n\n  B='two\nlines' # why\nC= 'x'\nD=''\nK='$(A) \\n'\n"

export const envFile: FuzzTarget = {
  name: 'env-file',
  generate: (random) => mutateText(mutateText(full, random), random),
  run(input) {
    const text = String(input)
    for (const key of ['A', 'B', 'K', '']) {
      const value = envFileValue(text, key)
      check(
        value === undefined || text.replaceAll('\r\n', '\n').includes(value) || text.includes('\r'),
        'a value that the file does not have',
      )
    }
  },
}
