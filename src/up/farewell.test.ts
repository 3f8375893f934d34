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
  rootDir: '/tmp/up/node',
  command: 'npx keelson',
}

test('the usual port needs no --server', () => {
  const text = formatFarewell(ready)
  expect(text).toMatch(/^node ready after 42\.0 s$/m)
  expect(text).toMatch(/^dashboard: https:\/\/127\.0\.0\.1:10250\/login\?ticket=x /m)
  expect(text).toMatch(/^ {2}npx keelson explain --live hog-n --root-dir \/tmp\/up\/node$/m)
  expect(text.match(/^ {2}(npx|curl) /gm)).toHaveLength(3)
  expect(text).toContain(
    '  another link: npx keelson token --root-dir /tmp/up/node --login https://127.0.0.1:10250\n',
  )
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
  })
  expect(text).toMatch(/^node ready after 42\.0 s, and 19\.2 s for packages$/m)
  expect(text).not.toMatch(/dashboard/)
  expect(text).toMatch(/^ {2}keelson explain --live --root-dir \S+ --server https:\/\/127\.0\.0\.1:10350$/m)
})
