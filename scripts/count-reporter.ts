// Ends every test run with one plain line of counts, after naming each skipped test and why it was skipped. With
// KEELSON_COUNTS=FILE the counts and the seconds of each file that passed are also written there.
import { writeFileSync } from 'node:fs'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

const secondsOf = (module: TestModule): number => {
  const { collectDuration, duration } = module.diagnostic()
  return Math.ceil((collectDuration + duration) / 1000)
}

export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0
    let failed = unhandledErrors.length
    const skipped: TestCase[] = []
    for (const module of modules) {
      if (module.children.size === 0 && module.state() === 'failed') failed++
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed++
        else if (state === 'failed') failed++
        else skipped.push(test)
      }
    }
    for (const test of skipped) {
      const result = test.result()
      const why = result.state === 'skipped' && result.note !== undefined ? result.note : 'no reason given'
      console.log(`skipped: ${test.fullName}: ${why}`)
    }
    console.log(
      `${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`,
    )
    const file = process.env.KEELSON_COUNTS
    if (file === undefined) return
    const whole = modules.filter((m) => m.state() === 'passed')
    const seconds = Object.fromEntries(whole.map((m) => [m.moduleId, secondsOf(m)]))
    writeFileSync(file, JSON.stringify({ passed, failed, skipped: skipped.length, seconds }))
  }
}
