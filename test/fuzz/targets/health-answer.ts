// Answers to grpc probes: a whole number of 32 bits or nothing, whatever the container sends.
import { parseHealthAnswer } from '../../../src/core/cri/health-answer.js'
import { check, type FuzzTarget } from '../types.js'

const seeds = [
  '00000000020801',
  '0000000000',
  '000000000412020801',
  '00000000060802120141',
  'ff000000020801',
] as const

export const healthAnswer: FuzzTarget = {
  name: 'health-answer',
  generate(random) {
    const bytes = Buffer.from(random.pick(seeds), 'hex')
    for (let i = random.below(4); i > 0; i -= 1) bytes[random.below(bytes.length)] = random.below(256)
    return bytes.subarray(0, random.below(bytes.length + 1)).toString('hex')
  },
  run(input) {
    const status = parseHealthAnswer(Buffer.from(String(input), 'hex'))
    check(status === undefined || status === (status | 0), `${String(input)}: ${status}`)
  },
}
