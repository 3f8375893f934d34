import { expect, test } from 'vitest'
import { serviceEnv } from './service-env.js'

const service = (namespace: string, name: string, clusterIP: string, ports: readonly object[]) => ({
  metadata: { namespace, name },
  spec: { clusterIP, ports: ports as { readonly port: number }[] },
})
const api = service('default', 'kubernetes', '10.0.0.1', [{ name: 'https', port: 443, protocol: 'TCP' }])
const redis = service('shop', 'redis-main', '10.0.0.11', [
  { name: 'data', port: 6379 },
  { name: 'log-udp', port: 514, protocol: 'UDP' },
])

test('each port of each service of the namespace', () => {
  const headless = service('shop', 'headless', 'None', [{ port: 1 }])
  const elsewhere = service('other', 'x', '10.0.0.9', [{ port: 1 }])
  expect(Object.fromEntries(serviceEnv([redis, headless, elsewhere], 'shop', true))).toEqual({
    REDIS_MAIN_SERVICE_HOST: '10.0.0.11',
    REDIS_MAIN_SERVICE_PORT: '6379',
    REDIS_MAIN_SERVICE_PORT_DATA: '6379',
    REDIS_MAIN_SERVICE_PORT_LOG_UDP: '514',
    REDIS_MAIN_PORT: 'tcp://10.0.0.11:6379',
    REDIS_MAIN_PORT_6379_TCP: 'tcp://10.0.0.11:6379',
    REDIS_MAIN_PORT_6379_TCP_PROTO: 'tcp',
    REDIS_MAIN_PORT_6379_TCP_PORT: '6379',
    REDIS_MAIN_PORT_6379_TCP_ADDR: '10.0.0.11',
    REDIS_MAIN_PORT_514_UDP: 'udp://10.0.0.11:514',
    REDIS_MAIN_PORT_514_UDP_PROTO: 'udp',
    REDIS_MAIN_PORT_514_UDP_PORT: '514',
    REDIS_MAIN_PORT_514_UDP_ADDR: '10.0.0.11',
  })
})

test('the API server is there in every namespace, also without service links', () => {
  const names = [...serviceEnv([redis, api], 'shop', false).keys()]
  expect(names).toContain('KUBERNETES_SERVICE_HOST')
  expect(names.some((name) => name.startsWith('REDIS'))).toBe(false)
})

test('an IPv6 address has brackets in a URL only', () => {
  const six = serviceEnv([service('a', 'w', 'fd00::1', [{ port: 80 }])], 'a', true)
  expect(six.get('W_PORT')).toBe('tcp://[fd00::1]:80')
  expect(six.get('W_SERVICE_HOST')).toBe('fd00::1')
})
