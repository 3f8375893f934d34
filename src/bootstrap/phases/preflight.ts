// The phase that every command begins with.
import type { Phase } from './phase.js'

export const preflight: Phase = {
  name: 'preflight',
  help: 'ask the named checks; an error stops the command before anything changes',
  usesSocket: true,
  checks: true,
}
