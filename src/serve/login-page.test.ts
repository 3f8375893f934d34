import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { loginPage, loginPolicy } from './login-page.js'

test('the exact command, for the address that was opened', () => {
  expect(loginPage('Unauthorized', '10.0.0.1:10250')).toContain(
    '<code>keelson dashboard https://10.0.0.1:10250</code>',
  )
  expect(loginPage('Unauthorized', '[::1]:10250')).toContain('dashboard https://[::1]:10250<')
})

test('what is no host is not repeated', () => {
  for (const host of ['a<script>', 'a b', 'a;rm', '$(x)', `${'a'.repeat(300)}`, 'a:123456', undefined])
    expect(loginPage('x', host)).toContain('<code>keelson dashboard</code>')
})

test('the policy allows the style of the page and nothing else', () => {
  const style = /<style>(.*)<\/style>/.exec(loginPage('x', undefined))?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  expect(loginPolicy).toBe(`default-src 'none'; style-src 'sha256-${hash}'`)
})
