// The kernel's list of unix sockets, in which any local user may write names: the holder of a name is always seen.
import { parseListening } from '../../../src/adapters/lock/version-0-1.js'
import { mutateText, type Random } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

const name = '@keelson-0123456789abcdef0123456789abcdef'
const line = (flags: string, inode: string, path: string): string =>
  `ffff0000: 00000002 00000000 ${flags} 0001 01 ${inode} ${path}`

const strangers = [
  name,
  `${name}@@@`,
  `x\n${line('00010000', '1', name)}`,
  '/run/x.sock',
  '@a b c',
  '',
  line('00010000', '2', name),
] as const

export const unixSockets: FuzzTarget = {
  name: 'unix-sockets',
  generate: (random: Random) => [
    line(random.pick(['00000000', '00010000']), '3', mutateText(random.pick(strangers), random)),
    line('00010000', '11', `${name}@@@@`),
    line('00010000', '4', mutateText(random.pick(strangers), random)),
  ],
  run(input) {
    const found = parseListening(`Num RefCount ...\n${(input as string[]).join('\n')}\n`, name)
    check(found.includes('11'), 'the holder is not seen')
    check(
      found.every((inode) => /^\d+$/.test(inode)),
      'something that is no inode',
    )
  },
}
