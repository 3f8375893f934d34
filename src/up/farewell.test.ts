// What is printed when the node is ready: times apart, the link, and three commands that work from where the person is.
import { expect, test } from 'vitest'
import { demoPods } from './demo-pods.js'
import { type Farewell, formatFarewell } from './farewell.js'

const ready: Farewell = {
  seconds: 42.04,
  installingSeconds: 0,
  table: 'POD',
  demo: demoPods('/d'),
  troubles: [],
  logDir: '/tmp/up/node',
  podNames: ['best-effort-n', 'hog-n'],
  link: '/login?ticket=x',
  port: 10250,
  command: 'npx keelson',
  background: false,
}

test('the commands to try need no flags: they find the node', () => {
  const text = formatFarewell(ready)
  expect(text).toMatch(/^node ready after 42\.0 s$/m)
  expect(text).toMatch(/^dashboard: https:\/\/127\.0\.0\.1:10250\/login\?ticket=x /m)
  expect(text).toMatch(/^ {2}npx keelson explain --live hog-n$/m)
  expect(text.match(/^ {2}(npx|curl) /gm)).toHaveLength(4)
  expect(text).toContain('  another link: npx keelson dashboard\n')
  expect(text).toMatch(/\nCtrl-C stops and removes everything\.\n$/)
  expect(text).not.toMatch(/not running/)
})

test('what does not run is said again at the end, with the logs', () => {
  const text = formatFarewell({
    ...ready,
    troubles: ['bad.yaml: refused by the kubelet; see above', 'web-n: x'],
  })
  expect(text).toContain(
    'not running:\n  bad.yaml: refused by the kubelet; see above\n  web-n: x\n  logs of the node: /tmp/up/node/*.log\n',
  )
})

test('another port, packages that were installed, no page and no pods', () => {
  const text = formatFarewell({
    ...ready,
    port: 10350,
    installingSeconds: 19.2,
    link: undefined,
    demo: [],
    troubles: [],
    logDir: '/tmp/up/node',
    podNames: [],
    command: 'keelson',
    background: true,
  })
  expect(text).toMatch(/^node ready after 42\.0 s, and 19\.2 s for packages$/m)
  expect(text).not.toMatch(/dashboard/)
  expect(text).toMatch(/^ {2}keelson explain --live$/m)
  expect(text).toMatch(/https:\/\/127\.0\.0\.1:10350\/metrics\/cadvisor/)
  expect(text).toMatch(/\nkeelson up down stops and removes everything\.\n$/)
})
