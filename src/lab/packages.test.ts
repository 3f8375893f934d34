import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'vitest'
import { allPackages, ensurePackages, findCommand, missingPackages, needsOf } from './packages.js'

test('every package that a machine asks for is in the list that tests install', () => {
  const file = new URL('./debian-packages.json', import.meta.url)
  const listed = Object.keys(JSON.parse(readFileSync(file, 'utf8')) as object)
  assert.deepEqual(
    allPackages().filter((p) => !listed.includes(p)),
    [],
  )
})

test('findCommand: by name, by path, and not at all', () => {
  assert.ok(findCommand('sh')?.endsWith('/sh'))
  assert.equal(findCommand('/bin/sh'), '/bin/sh')
  assert.equal(findCommand('/etc/passwd'), undefined)
  assert.equal(findCommand('no-such-command-here'), undefined)
})

test('missingPackages names each once', () => {
  const missing = missingPackages(['uml', 'qemu', 'uml-systemd', 'containerd'])
  assert.equal(missing.length, new Set(missing).size)
})

test('needsOf: containerd comes from the host only where the root is the host’s', () => {
  assert.deepEqual(needsOf('uml', true), ['uml', 'containerd', 'images'])
  assert.deepEqual(needsOf('qemu', true), ['qemu', 'images'])
  assert.deepEqual(needsOf('qemu', false), ['qemu'])
})

const never = new AbortController().signal
const without =
  (...files: string[]) =>
  (file: string): string | undefined =>
    files.includes(file) ? undefined : `/usr/bin/${file}`

test('ensurePackages: without root what is missing is named, with the line that installs it', async () => {
  const machine = { root: false, find: without('linux.uml', 'runc') }
  await assert.rejects(
    ensurePackages(['uml', 'containerd'], never, () => {}, machine),
    {
      code: 'lab.missing',
      message:
        'the lab needs Debian packages that are not installed: user-mode-linux, runc; ' +
        'as root run: apt-get install -y --no-install-recommends user-mode-linux runc',
    },
  )
})

test('ensurePackages: without apt, root gets the same message', async () => {
  const machine = { root: true, find: without('linux.uml', 'apt-get') }
  await assert.rejects(
    ensurePackages(['uml'], never, () => {}, machine),
    { code: 'lab.missing' },
  )
})

test('ensurePackages: nothing missing, nothing done', async () => {
  await ensurePackages(['uml', 'qemu'], never, () => assert.fail('no progress to show'), {
    root: true,
    find: without(),
  })
})
