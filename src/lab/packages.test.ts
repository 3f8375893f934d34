import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'vitest'
import { allPackages, findCommand, missingPackages, needsOf } from './packages.js'

test('every package that a bed asks for is in the list that tests install', () => {
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
