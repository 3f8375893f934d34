import { expect, test } from 'vitest'
import { createRouter, type Endpoint } from './endpoint.js'

const unit = (name: string, path: string, methods: readonly string[] = ['GET']): Endpoint => ({
  name,
  path,
  methods,
  handle: () => ({ status: 200, headers: {}, body: name }),
})
const router = createRouter([
  unit('check', '/healthz/{check}'),
  unit('ping', '/healthz/ping'),
  unit('healthz', '/healthz'),
  unit('logs', '/logs/{path...}'),
  unit('exec', '/exec/{namespace}/{pod}/{container}', ['GET', 'POST']),
  unit('enter', '/login', ['GET']),
  unit('ask', '/login', ['POST']),
  unit('root', '/'),
])
const route = (path: string, method = 'GET') => {
  const match = router(path.split('/').filter(Boolean), method)
  return match === undefined ? undefined : [match.endpoint.name, match.params]
}

test.each([
  ['/healthz', ['healthz', {}]],
  ['/healthz/ping', ['ping', {}]],
  ['/healthz/log', ['check', { check: 'log' }]],
  ['/healthz/log/more', undefined],
  ['/logs/a/b', ['logs', { path: 'a/b' }]],
  ['/logs', ['logs', { path: '' }]],
  ['/exec/a/b', undefined],
  ['/exec/a/b/c', ['exec', { namespace: 'a', pod: 'b', container: 'c' }]],
  ['/exec/a/b/c/d', undefined],
  ['/HEALTHZ', undefined],
  ['/', ['root', {}]],
])('%s', (path, expected) => expect(route(path)).toEqual(expected))

test('one path, an endpoint per method; another method finds the path and not the endpoint', () => {
  expect(route('/login', 'POST')).toEqual(['ask', {}])
  expect(route('/login', 'GET')).toEqual(['enter', {}])
  expect(route('/login', 'PUT')).toEqual(['enter', {}])
})

test('two endpoints of one name are a bug', () => {
  expect(() => createRouter([unit('a', '/a'), unit('a', '/b')])).toThrow('two endpoints are named a')
})
