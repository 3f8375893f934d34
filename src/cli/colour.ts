// Colour for people: only on a terminal, never with NO_COLOR or TERM=dumb, and never as the only sign of a meaning.
import type { Io } from './io.js'

export type Colour = 'red' | 'yellow' | 'green' | 'dim'

export type Paint = (colour: Colour, text: string) => string

const codes: Readonly<Record<Colour, string>> = { red: '31', yellow: '33', green: '32', dim: '2' }

export const painter = ({ stdout, env }: Pick<Io, 'stdout' | 'env'>): Paint =>
  stdout.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'
    ? (colour, text) => `\x1b[${codes[colour]}m${text}\x1b[0m`
    : (_, text) => text
