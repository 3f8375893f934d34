import { expect, test } from 'vitest'
import { parseMetricsUrl } from './metrics-url.js'

for (const { name, info, url } of [
  { name: 'none', info: {}, url: undefined },
  { name: 'containerd alone', info: { config: '{"a":1}', lastCNILoadStatus: 'OK' }, url: undefined },
  {
    name: 'behind our CRI server',
    info: { config: '{}', keelson: '{"metricsUrl":"https://10.0.0.1:10252/metrics/cadvisor"}' },
    url: 'https://10.0.0.1:10252/metrics/cadvisor',
  },
  { name: 'no HTTP server', info: { keelson: '{"metricsUrl":null}' }, url: undefined },
  { name: 'not a web address', info: { keelson: '{"metricsUrl":"file:///etc/passwd"}' }, url: undefined },
])
  test(`address of the runtime's metrics: ${name}`, () => {
    expect(parseMetricsUrl(info)).toBe(url)
  })
