// YAML text of odd pieces, each repeated: the limits end the work early, and they never change what a text within them means.
import { isDeepStrictEqual } from 'node:util'
import { toJson } from '../../../src/config/node.js'
import { commandLimits, parseYamlDocuments, servingLimits } from '../../../src/config/parse-yaml.js'
import { isKeelsonError } from '../../../src/core/errors.js'
import { mutateText, type Random } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

const pieces = [
  'a: 1\n',
  '- b\n',
  '  c: "d"\n',
  '[',
  ']',
  '{e: ',
  '}',
  '? ',
  ': ',
  '- ',
  '---\n',
  '...\n',
  '&x ',
  '*x\n',
  '<<: *x\n',
  '!!str ',
  '!t ',
  '|\n',
  '>-\n',
  ' f\n',
  "'g'\n",
  '"h\\n"',
  '# i\n',
  '%YAML 1.1\n',
  '\t',
  '\r\n',
  ', ',
] as const

const times = (random: Random): number =>
  random.chance(1) ? random.below(20_000) : 1 + random.below(random.pick([1, 3, 100]))

/** Of what it is made of, or which code it is refused with. */
function outcome(text: string, limits: typeof servingLimits): unknown {
  try {
    const originAt = (line: number) => ({ from: 'file', path: 'f.yaml', line }) as const
    return parseYamlDocuments(text, 'f.yaml', originAt, limits).map(toJson)
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    check(/^parse f\.yaml(:[1-9]\d*: .|: invalid YAML)/.test(e.message), `no line is named: ${e.message}`)
    return e.message
  }
}

export const yaml: FuzzTarget = {
  name: 'yaml',
  generate(random) {
    const made = Array.from({ length: 1 + random.below(6) }, () => random.pick(pieces).repeat(times(random)))
    const text = made.join('')
    return random.chance(10) ? mutateText(text, random) : text.slice(0, 256 * 1024)
  },
  run(input) {
    const text = String(input)
    const served = outcome(text, servingLimits)
    if (typeof served === 'string' && / more than \d+ (tokens|values|documents)/.test(served)) return
    check(isDeepStrictEqual(served, outcome(text, commandLimits)), 'the limits change what a text means')
  },
}
