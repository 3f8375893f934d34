// A client of its own process, so that what it measures is the server's time and not that of a busy test.
// Run as: node --import tsx valid-client.ts PORT CERTIFICATE KEY; asks until its input ends, then prints what it saw.
import { readFileSync } from 'node:fs'
import { ask } from './client.js'

const [port, certificateFile, keyFile] = process.argv.slice(2)
const certificate = {
  certificate: readFileSync(certificateFile ?? '', 'utf8'),
  key: readFileSync(keyFile ?? '', 'utf8'),
}
const seen = { slowestMs: 0, answered: 0, wrong: [] as string[], running: true }
process.stdin.resume().once('end', () => {
  seen.running = false
})
process.stdout.write('ready\n')
while (seen.running) {
  const started = performance.now()
  const answer = await ask({ port: Number(port), path: '/healthz', certificate })
    .then((told) => String(told.status))
    .catch((e: unknown) => String(e))
  seen.slowestMs = Math.max(seen.slowestMs, performance.now() - started)
  if (answer === '200') seen.answered++
  else seen.wrong.push(answer)
  await new Promise((resolve) => setTimeout(resolve, 20))
}
process.stdout.write(`${JSON.stringify(seen)}\n`)
