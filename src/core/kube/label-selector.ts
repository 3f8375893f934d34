// Label selectors as kubectl's -l takes them: `app=web,tier!=cache,env in (a,b),!old`.
import { keelsonError } from '../errors.js'

export type LabelSelector = (labels: Readonly<Record<string, string>>) => boolean

const key = `[A-Za-z0-9](?:[-A-Za-z0-9_./]{0,315}[A-Za-z0-9])?`
const value = `(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?`
const equality = new RegExp(`^(${key})\\s*(==|=|!=)\\s*(${value})$`)
const membership = new RegExp(`^(${key})\\s+(in|notin)\\s*\\(([^()]*)\\)$`)
const existence = new RegExp(`^(!?)\\s*(${key})$`)
const wholeValue = new RegExp(`^${value}$`)
const maxLength = 4096

export function parseLabelSelector(text: string): LabelSelector {
  if (text.length > maxLength) throw invalid(text)
  // Commas inside brackets belong to a list of values.
  const requirements = text
    .split(/,(?![^()]*\))/)
    .map((part) => part.trim())
    .filter((part, _, all) => part !== '' || all.length > 1)
    .map((part) => parseRequirement(part, text))
  return (labels) => requirements.every((matches) => matches(labels))
}

/** `in` of a prototype's name is no label. */
const labelOf = (labels: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(labels, name) ? labels[name] : undefined

function parseRequirement(part: string, whole: string): LabelSelector {
  const [, equal = '', operator, wanted = ''] = equality.exec(part) ?? []
  if (operator !== undefined) return (labels) => (labelOf(labels, equal) === wanted) === (operator !== '!=')
  const [, member = '', among, list = ''] = membership.exec(part) ?? []
  if (among !== undefined) {
    const values = list.split(',').map((v) => v.trim())
    if (!values.every((v) => wholeValue.test(v))) throw invalid(whole)
    return (labels) => {
      const found = labelOf(labels, member)
      return (found !== undefined && values.includes(found)) === (among === 'in')
    }
  }
  const [, not, name = ''] = existence.exec(part) ?? []
  if (not === undefined) throw invalid(whole)
  return (labels) => (labelOf(labels, name) !== undefined) === (not === '')
}

const invalid = (text: string): Error =>
  keelsonError(
    'usage.invalid',
    `label selector ${JSON.stringify(text.slice(0, 80))}: use key=value, key!=value, key in (a,b), key notin (a,b), key or !key, separated by commas`,
  )
