// The .deb as dpkg reads it. Whether it installs, upgrades and purges is shown in the lab.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { debianPackage, debianVersion, formatAr } from '../../scripts/package/debian.js'
import { root } from '../../scripts/package/release.js'
import { requires } from '../support/requirements.js'

const dir = mkdtempSync(join(tmpdir(), 'keelson-deb-'))
const deb = join(dir, 'keelson.deb')
const dpkg = (option: string): string => execFileSync('dpkg-deb', [option, deb], { encoding: 'utf8' })

beforeAll(async () => {
  const license = join(root, 'LICENSE')
  const input = {
    program: [{ path: 'dist/cli/main.js', data: Buffer.from(''), mode: 0o755 }],
    node: { binary: license, license },
    share: [{ path: 'man/man1/keelson.1.gz', data: Buffer.from(''), mode: 0o644 }],
  }
  writeFileSync(deb, await debianPackage(input, { version: '1.2.0-rc.1', date: new Date(1_767_225_600_000) }))
})
afterAll(() => rmSync(dir, { recursive: true }))

test('dpkg reads its fields, configuration files and scripts', (ctx) => {
  requires(ctx, { commands: ['dpkg-deb'] })
  const info = dpkg('--info')
  expect(info).toMatch(/^ Version: 1\.2\.0~rc\.1$/m)
  for (const script of ['postinst', 'prerm', 'postrm'])
    expect(info).toMatch(new RegExp(`\\* {2}${script}\\s`))
  const control = join(dir, 'control')
  execFileSync('dpkg-deb', ['--control', deb, control])
  const conffiles = readFileSync(join(control, 'conffiles'), 'utf8').trim().split('\n')
  expect(conffiles).toContain('/etc/keelson/config.yaml')
  const contents = dpkg('--contents')
  for (const path of conffiles) expect(contents).toContain(` .${path}\n`)
})

test('files belong to root, units run the packaged program, pages are found from /usr/share/doc', (ctx) => {
  requires(ctx, { commands: ['dpkg-deb'] })
  const lines = dpkg('--contents').trim().split('\n')
  for (const line of lines) expect(line).toMatch(/ root\/root /)
  expect(lines.join('\n')).toMatch(/-rwxr-xr-x .* \.\/usr\/lib\/keelson\/node$/m)
  expect(lines.join('\n')).toContain('./usr/share/doc/keelson/docs -> ../../../lib/keelson/docs')
  const place = join(dir, 'x')
  execFileSync('dpkg-deb', ['--extract', deb, place])
  const units = readdirSync(join(place, 'usr/lib/systemd/system'))
  expect(units.sort()).toEqual([
    'keelson-companion.service',
    'keelson-cri.service',
    'keelson-kubelet.service',
  ])
  for (const unit of units) {
    const text = readFileSync(join(place, 'usr/lib/systemd/system', unit), 'utf8')
    expect(text).toMatch(/^ExecStart=\/usr\/bin\/keelson /m)
    expect(text).not.toContain('/usr/local/')
  }
})

test('the scripts are valid for sh', () => {
  for (const script of ['postinst', 'prerm', 'postrm'])
    expect(spawnSync('sh', ['-n', join(root, 'deploy/debian', script)]).status, script).toBe(0)
})

test('members of the archive begin at even places', () => {
  const ar = formatAr(
    [
      ['a', Buffer.from('x')],
      ['b', Buffer.from('yy')],
    ],
    new Date(0),
  )
  expect(ar.toString().indexOf('b               ') % 2).toBe(0)
  expect(debianVersion('1.0.0')).toBe('1.0.0')
})
