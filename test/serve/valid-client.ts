// A client of its own process, so that what it measures is the server's time and not that of a busy test. Time in which the
// server or this client waited for a processor is that of others, and not counted.
// Run as: node --import tsx valid-client.ts PORT CERTIFICATE KEY SERVER; asks until its input ends, then prints what it saw.
import { readFileSync } from 'node:fs'
import { processorWaitMs } from '../support/processor-wait.js'
import { ask } from './client.js'

const [port, certificateFile, keyFile, server] = process.argv.slice(2)
const certificate = {
  certificate: readFileSync(certificateFile ?? '', 'utf8'),
  key: readFileSync(keyFile ?? '', 'utf8'),
}
const waitedMs = (): number => processorWaitMs('self') + processorWaitMs(Number(server))
const seen = { slowestMs: 0, answered: 0, wrong: [] as string[], running: true }
process.stdin.resume().once('end', () => {
  seen.running = false
})
process.stdout.write('ready\n')
while (seen.running) {
  const started = performance.now() - waitedMs()
  const answer = await ask({ port: Number(port), path: '/healthz', certificate })
    .then((told) => String(told.status))
    .catch((e: unknown) => String(e))
  seen.slowestMs = Math.max(seen.slowestMs, performance.now() - waitedMs() - started)
  if (answer === '200') seen.answered++
  else seen.wrong.push(answer)
  await new Promise((resolve) => setTimeout(resolve, 20))
}
process.stdout.write(`${JSON.stringify(seen)}\n`)
