import { expect, test } from 'vitest'
import { type Check, ok, warn } from './check.js'
import type { DoctorFacts } from './facts.js'
import { formatReport } from './report.js'
import { runChecks } from './run-checks.js'

const facts = { host: { hostname: 'n' } } as unknown as DoctorFacts
const check = (name: string, finding: ReturnType<typeof ok>): Check<object> => ({
  name,
  asks: `Is ${name} well?`,
  run: () => finding,
})
const report = runChecks(
  [
    check('swap', ok('SwapTotal: 0')),
    check('several', ok('one', 'two')),
    check('long', ok('x'.repeat(90), 'y'.repeat(90))),
    check('silent', ok()),
    check('bad', warn('it is bad', 'fix it')),
  ],
  {},
)

test('a passed check shows its answer and not its question', () => {
  const text = formatReport(report, facts, { verbose: false })
  expect(text).toMatch(/^ok {5}swap {17}SwapTotal: 0$/m)
  expect(text).toMatch(/^ok {5}several {14}one; two$/m)
  expect(text).toMatch(/^ok {5}long {17}x{90} \(and 1 more with --verbose\)$/m)
  expect(text).toMatch(/^ok {5}silent {15}Is silent well\?$/m)
  expect(text).toMatch(/page docs\/doctor\/bad\.md \(keelson doctor explain bad\)/)
})

test('--verbose shows the question and everything seen', () => {
  const text = formatReport(report, facts, { verbose: true })
  expect(text).toMatch(/^ok {5}several {14}Is several well\?\n {9}seen one\n {9}seen two$/m)
})

test('the severity is painted with its padding, so that columns stay', () => {
  const text = formatReport(report, facts, { verbose: false, paint: (s, word) => `<${s}>${word}</>` })
  expect(text).toContain('<warn>WARN  </> bad ')
})
