// Colours of the screen as ANSI sequences, or none of them.

export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly reverse: (text: string) => string
  readonly red: (text: string) => string
  readonly yellow: (text: string) => string
}

const sequence =
  (on: number, off: number) =>
  (text: string): string =>
    `\x1b[${on}m${text}\x1b[${off}m`
const none = (text: string): string => text

export const ansi: Style = {
  bold: sequence(1, 22),
  dim: sequence(2, 22),
  reverse: sequence(7, 27),
  red: sequence(31, 39),
  yellow: sequence(33, 39),
}

/** With NO_COLOR the chosen row still has to be seen. */
export const monochrome: Style = { ...ansi, red: none, yellow: none }
export const unstyled: Style = { bold: none, dim: none, reverse: none, red: none, yellow: none }
