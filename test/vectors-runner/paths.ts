// Which files the arguments of `npm run vectors` mean.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** npm changes to the package's own directory and keeps the caller's in INIT_CWD; that is what a person means first. */
export function findArgument(argument: string, calledFrom: string | undefined): string {
  const there = calledFrom === undefined ? argument : resolve(calledFrom, argument)
  return existsSync(there) ? there : argument
}

/** A directory stands for the JSON files in it and below it, by name; without any it stays itself, and fails as a file. */
export function filesOf(path: string): readonly string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path]
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.json'),
  )
  return names.length === 0 ? [path] : names.sort().map((name) => join(path, name))
}
