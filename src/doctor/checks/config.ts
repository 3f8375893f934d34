// A kubelet starts on a misspelt key and so loses the setting in silence; here it is an error.
import { formatFinding } from '../../config/origin.js'
import { type Check, error, type Finding, info, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'

export const config: Check<DoctorFacts> = {
  name: 'config',
  asks: "Is the kubelet's configuration sound?",
  run({ host, kubelet: { loaded, source, unreadable } }) {
    if (unreadable !== undefined && host.privileged === false && /permission denied|EACCES/.test(unreadable))
      return skipped(`the configuration cannot be read by this user: ${unreadable}`)
    if (unreadable !== undefined)
      return error(
        `the configuration cannot be used: ${unreadable}`,
        'mend the file or the flag that it names',
      )
    if (source === undefined) return skipped('there is no kubelet here, and no configuration of one')
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
