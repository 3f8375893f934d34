// A kubelet starts on a misspelt key and so loses the setting in silence; here it is an error.
import { formatFinding } from '../../config/origin.js'
import { type Check, error, type Finding, info, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'

export const config: Check<DoctorFacts> = {
  name: 'config',
  asks: 'Is the kubelet configuration valid?',
  run({ host, kubelet: { loaded, source, unreadable } }) {
    if (unreadable !== undefined && host.privileged === false && /permission denied|EACCES/.test(unreadable))
      return skipped(`this user cannot read the configuration: ${unreadable}`)
    if (unreadable !== undefined)
      return error(`invalid configuration: ${unreadable}`, 'fix the file or the flag shown')
    if (source === undefined) return skipped('no kubelet and no kubelet configuration found')
    const findings: Finding[] = loaded.problems.map((p) =>
      error(formatFinding({ ...p, remedy: '' }), p.remedy === '' ? 'see docs/config.md' : p.remedy),
    )
    for (const w of loaded.warnings) {
      const text = formatFinding({ ...w, remedy: '' })
      const remedy = w.remedy === '' ? 'see docs/config.md' : w.remedy
      if (w.id === 'unknown-key') findings.push(error(text, remedy))
      // The file may be that of an upstream kubelet, which does honour it.
      else if (['not-honoured', 'without-effect', 'flag-deprecated'].includes(w.id))
        findings.push(info(text, [], remedy))
      else findings.push(warn(text, remedy))
    }
    return findings.length === 0 ? ok(`from ${source}`) : findings
  },
}
