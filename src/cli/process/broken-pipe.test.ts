import { EventEmitter } from 'node:events'
import { describe, expect, test } from 'vitest'
import { endOnBrokenPipe, type Streams } from './broken-pipe.js'

function scene(end: ReturnType<Streams['orderlyEnd']>) {
  const output = new EventEmitter()
  const did: string[] = []
  endOnBrokenPipe({
    outputs: [output],
    orderlyEnd: () => end,
    endInOrder: () => did.push('in order'),
    endNow: (status) => did.push(`now ${status}`),
    failWith: (error) => did.push(error.message),
  })
  const breaks = (code: string) => output.emit('error', Object.assign(new Error(code), { code }))
  return { output, did, breaks }
}

describe('a reader that has gone', () => {
  test('ends a command at once', () => {
    const { did, breaks } = scene('none')
    breaks('EPIPE')
    expect(did).toEqual(['now 141'])
  })

  test('ends a service in order, once, however much it still has to say', () => {
    const { did, breaks } = scene('waits')
    breaks('EPIPE')
    breaks('EPIPE')
    expect(did).toEqual(['in order'])
  })

  test('does not cut an orderly end short that a signal has begun', () => {
    const { did, breaks } = scene('under-way')
    breaks('EPIPE')
    breaks('EIO')
    expect(did).toEqual([])
  })

  test('is also a terminal that was closed', () => {
    const { did, breaks } = scene('waits')
    breaks('EIO')
    expect(did).toEqual(['in order'])
  })

  test('another failure of the output stays a failure, unless the command listens itself', () => {
    const { output, did, breaks } = scene('none')
    breaks('ENOSPC')
    output.on('error', () => undefined)
    breaks('EFBIG')
    expect(did).toEqual(['ENOSPC'])
  })
})
