// Counts the threads of a process by the letter of their scheduler state.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { absent } from './absent.js'

export function countTaskStates(directory: string, max: number): ReadonlyMap<string, number> | undefined {
  const tasks = absent(() => readdirSync(directory))
  if (tasks === undefined) return undefined
  const states = new Map<string, number>()
  for (const task of tasks.slice(0, max)) {
    const stat = absent(() => readFileSync(join(directory, task, 'stat'), 'utf8'))
    // The name before it may hold anything, parentheses too.
    const state = stat?.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3)
    if (state !== undefined && state !== '') states.set(state, (states.get(state) ?? 0) + 1)
  }
  return states
}
