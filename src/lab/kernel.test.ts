// The order in which the modules of the QEMU machine's kernel load.
import { expect, test } from 'vitest'
import { loadOrder } from './kernel.js'

const modulesDep = `drivers/virtio/virtio.ko: drivers/virtio/virtio_ring.ko
drivers/virtio/virtio_ring.ko:
fs/fuse/fuse.ko:
fs/fuse/virtiofs.ko: fs/fuse/fuse.ko drivers/virtio/virtio.ko drivers/virtio/virtio_ring.ko
drivers/block/virtio_blk.ko: drivers/virtio/virtio.ko drivers/virtio/virtio_ring.ko
`

test('each module once, after what it needs', () => {
  expect(loadOrder(modulesDep, ['virtio_blk', 'virtiofs'])).toEqual([
    'drivers/virtio/virtio_ring.ko',
    'drivers/virtio/virtio.ko',
    'drivers/block/virtio_blk.ko',
    'fs/fuse/fuse.ko',
    'fs/fuse/virtiofs.ko',
  ])
})

test('a module that the kernel does not have is named', () => {
  expect(() => loadOrder(modulesDep, ['virtio_blk', 'zram'])).toThrow('no module zram')
})
