import { EventEmitter } from 'node:events'
import { describe, expect, test } from 'vitest'
import { endOnBrokenPipe } from './broken-pipe.js'

function scene(isService: boolean) {
  const output = new EventEmitter()
  const did: string[] = []
  endOnBrokenPipe({
    outputs: [output],
    hasOrderlyEnd: () => isService,
    endInOrder: () => did.push('in order'),
    endNow: (status) => did.push(`now ${status}`),
  })
  const breaks = (code: string) => output.emit('error', Object.assign(new Error(code), { code }))
  return { did, breaks }
}

describe('a reader that has gone', () => {
  test('ends a command at once', () => {
    const { did, breaks } = scene(false)
    breaks('EPIPE')
    expect(did).toEqual(['now 141'])
  })

  test('ends a service in order, once, however much it still has to say', () => {
    const { did, breaks } = scene(true)
    breaks('EPIPE')
    breaks('EPIPE')
    expect(did).toEqual(['in order'])
  })

  test('another failure of the output stays a failure', () => {
    const { did, breaks } = scene(false)
    expect(() => breaks('EIO')).toThrow('EIO')
    expect(did).toEqual([])
  })
})
