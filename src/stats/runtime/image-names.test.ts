import { expect, test } from 'vitest'
import type { Container } from '../../cri-api/api.js'
import { createImageNames } from './image-names.js'

const id = `sha256:${'4'.repeat(64)}`
const signal = new AbortController().signal
const container = (image: string, userSpecifiedImage = ''): Container =>
  ({ id: 'c', image: { image, userSpecifiedImage } }) as Container
const namesOf = (containers: readonly Container[]): unknown[] =>
  containers.map((c) => c.image?.userSpecifiedImage)

test('an id gets its first tag, and is asked for once while a container uses it', async () => {
  const asked: string[] = []
  const names = createImageNames(async (image) => {
    asked.push(image)
    return ['example.com/web:1', 'example.com/web@sha256:0']
  })
  expect(namesOf(await names.resolve([container(id), container(id)], signal))).toEqual([
    'example.com/web:1',
    'example.com/web:1',
  ])
  await names.resolve([container(id)], signal)
  expect(asked).toEqual([id])
  await names.resolve([], signal)
  await names.resolve([container(id)], signal)
  expect(asked).toHaveLength(2)
})

test('names stay as they are and cost no call; an image that has gone keeps its id', async () => {
  const names = createImageNames(async () => {
    throw new Error('not found')
  })
  const given = [container('busybox:1'), container(id, 'web:2')]
  expect(await names.resolve(given, signal)).toBe(given)
  expect(namesOf(await names.resolve([container(id)], signal))).toEqual([id])
})
