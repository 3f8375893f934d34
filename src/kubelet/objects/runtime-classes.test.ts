import { expect, test } from 'vitest'
import type { KubeObject, RuntimeClass } from '../../core/kube/objects.js'
import { createHandlerOf } from './runtime-classes.js'

const classes: Readonly<Record<string, RuntimeClass>> = { fast: { handler: 'crun' } }
const handlerOf = createHandlerOf({
  get: async <T extends KubeObject>(path: string) =>
    classes[path.replace('/apis/node.k8s.io/v1/runtimeclasses/', '')] as T | undefined,
})
const { signal } = new AbortController()

test('the handler of a class; none is the default of the runtime', async () => {
  expect(await handlerOf('fast', signal)).toBe('crun')
  expect(await handlerOf(undefined, signal)).toBe('')
})

test("a class that does not exist is an error in upstream's words", async () => {
  await expect(handlerOf('gone', signal)).rejects.toThrow('runtimeclass.node.k8s.io "gone" not found')
})
