// npm run vectors -- FILE|DIRECTORY...: runs vector files through the product's own code and exits non-zero on a failure.
import { filesOf, findArgument } from './paths.js'
import { formatCounts, formatResult } from './report.js'
import { type CaseResult, isPassed, runVectorFile } from './runner.js'

const files = process.argv
  .slice(2)
  .flatMap((argument) => filesOf(findArgument(argument, process.env['INIT_CWD'])))
if (files.length === 0) {
  console.error('usage: npm run vectors -- FILE|DIRECTORY...')
  process.exitCode = 2
} else {
  const results: CaseResult[] = []
  for (const file of files) results.push(...(await runVectorFile(file)))
  for (const result of results) if (!isPassed(result)) console.log(formatResult(result))
  console.log(formatCounts(results))
  process.exitCode = results.every(isPassed) ? 0 : 1
}
