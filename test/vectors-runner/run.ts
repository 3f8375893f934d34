// npm run vectors -- FILE...: runs vector files through the product's own code and exits non-zero on a failure.
import { formatCounts, formatResult } from './report.js'
import { type CaseResult, isPassed, runVectorFile } from './runner.js'

const files = process.argv.slice(2)
if (files.length === 0) {
  console.error('usage: npm run vectors -- FILE...')
  process.exitCode = 2
} else {
  const results: CaseResult[] = []
  for (const file of files) results.push(...(await runVectorFile(file)))
  for (const result of results) if (!isPassed(result)) console.log(formatResult(result))
  console.log(formatCounts(results))
  process.exitCode = results.every(isPassed) ? 0 : 1
}
