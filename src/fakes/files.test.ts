import { expect, test } from 'vitest'
import { filesContract } from '../../test/contracts/files.js'
import { FakeFiles } from './files.js'

filesContract('files in memory', () => {
  const files = new FakeFiles()
  files.makeDirectory('/dir')
  return {
    files,
    dir: '/dir',
    makeDirectory: (path) => files.makeDirectory(path),
    removeDirectory: (path) => files.removeDirectory(path),
    close: () => undefined,
  }
})

test('mode and owner are kept, refusals carry their reason', async () => {
  const files = new FakeFiles()
  await files.replace('/a', 'x', { mode: 0o600, owner: { uid: 1, gid: 2 } })
  await files.replace('/a', 'y')
  expect(files.files.get('/a')).toMatchObject({ mode: 0o600, owner: { uid: 1, gid: 2 } })
  files.refuse('/a', 'disk full')
  await expect(files.replace('/a', 'z')).rejects.toThrow('disk full')
  expect(files.text('/a')).toBe('y')
})
