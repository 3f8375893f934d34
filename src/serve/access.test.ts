import { describe, expect, test } from 'vitest'
import { decideAccess } from './access.js'

const access = (method: string, path: string, fineGrained = true) => {
  const { verb, subresources } = decideAccess(method, path.split('/').filter(Boolean), { fineGrained })
  return `${verb} ${subresources.join(',')}`
}

describe('decideAccess', () => {
  test.each([
    ['GET', '/stats/summary', 'get stats'],
    ['POST', '/stats/summary', 'create stats'],
    ['GET', '/metrics/cadvisor', 'get metrics'],
    ['GET', '/logs/messages', 'get log'],
    ['POST', '/checkpoint/a/b/c', 'create checkpoint'],
    ['GET', '/statusz', 'get statusz'],
    ['GET', '/flagz', 'get configz'],
    ['GET', '/pods', 'get pods,proxy'],
    ['GET', '/allocatedPods', 'get pods,proxy'],
    ['GET', '/runningpods/', 'get pods,proxy'],
    ['GET', '/healthz/ping', 'get healthz,proxy'],
    ['GET', '/configz', 'get configz,proxy'],
    ['PUT', '/configz', 'update configz,proxy'],
    ['PATCH', '/pods', 'patch pods,proxy'],
    ['DELETE', '/pods', 'delete pods,proxy'],
    ['HEAD', '/pods', 'get pods,proxy'],
    ['OPTIONS', '/metrics', ' metrics'],
    ['get', '/metrics', ' metrics'],
    ['GET', '/containerLogs/a/b/c', 'get proxy'],
    ['GET', '/debug/pprof', 'get proxy'],
    ['GET', '/', 'get proxy'],
    ['GET', '/statsfoo', 'get proxy'],
    ['GET', '/Stats', 'get proxy'],
    ['GET', '/constructor', 'get proxy'],
    ['GET', '/__proto__', 'get proxy'],
    ['constructor', '/pods', ' pods,proxy'],
  ])('%s %s: %s', (method, path, expected) => expect(access(method, path)).toBe(expected))

  test.each(['exec', 'attach', 'run', 'portForward'])('%s needs create, whatever the method', (word) => {
    for (const method of ['GET', 'POST', 'HEAD', 'PUT'])
      expect(access(method, `/${word}/a/b/c`)).toBe('create proxy')
  })

  test('without fine-grained authorization the coarse right is asked for', () => {
    for (const path of ['/pods', '/healthz', '/configz', '/runningpods'])
      expect(access('GET', path, false)).toBe('get proxy')
    expect(access('GET', '/metrics', false)).toBe('get metrics')
  })
})
