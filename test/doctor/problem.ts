// The shape of a node on which a check must find something.
import type { Severity } from '../../src/doctor/check.js'
import type { DoctorFacts } from '../../src/doctor/facts.js'
import { healthy } from './healthy.js'

export interface Problem {
  readonly check: string
  readonly name: string
  readonly facts: DoctorFacts
  readonly severity: Severity
  readonly says: RegExp
}

export const problem = (
  check: string,
  name: string,
  severity: Severity,
  says: RegExp,
  over: Partial<DoctorFacts>,
): Problem => ({ check, name, severity, says, facts: healthy(over) })
