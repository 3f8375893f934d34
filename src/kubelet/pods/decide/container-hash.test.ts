import { expect, test } from 'vitest'
import { containerHash } from './container-hash.js'

/** Computed with the upstream kubelet's own code. */
test('the hash is the one that the upstream kubelet computes', () => {
  expect(containerHash({ name: 'app', image: 'busybox:1.36' })).toBe('395745')
})

test('another image is another hash', () => {
  expect(containerHash({ name: 'app', image: 'busybox:1.37' })).not.toBe('395745')
})
