// Requests of httpGet probes, their redirects and what their answers mean, as rows.
import { describe, expect, test } from 'vitest'
import type { HttpGet } from '../../../core/pod/spec/handlers.js'
import type { ContainerPort } from '../../../core/pod/spec/spec.js'
import type { GetAnswer, GetRequest } from '../../../ports/network/probe-calls.js'
import { getRequest, nextRequest, outcomeOfGet } from './http-request.js'

const ports: readonly ContainerPort[] = [
  { name: 'web', containerPort: 8080, hostPort: 0, hostIP: '', protocol: 'TCP' },
]
const get: HttpGet = { path: '/', port: 80, host: undefined, scheme: 'HTTP', headers: [] }
const request = (more: Partial<HttpGet> = {}) =>
  getRequest({ ...get, ...more }, ports, '10.1.2.3', 'kube-probe/1.37')

describe('the request', () => {
  test('goes to the pod, with the headers of a kubelet', () =>
    expect(request()).toEqual({
      host: '10.1.2.3',
      port: 80,
      tls: false,
      path: '/',
      headers: ['User-Agent', 'kube-probe/1.37', 'Accept', '*/*'],
    }))

  test('a port by name, and one that does not exist', () => {
    expect(request({ port: 'web' })).toMatchObject({ port: 8080 })
    expect(request({ port: 'wbe' })).toBe('port "wbe" not found')
  })

  for (const { path, sent } of [
    { path: 'healthz', sent: '/healthz' },
    { path: '/a?b=c#d', sent: '/a?b=c' },
    { path: '/a b\r\nX: y', sent: '/a%20b%0D%0AX:%20y' },
    { path: '/ü\ud800', sent: '/%C3%BC%EF%BF%BD' },
    { path: '/%2Fx', sent: '/%2Fx' },
  ])
    test(`path ${JSON.stringify(path)}`, () => expect(request({ path })).toMatchObject({ path: sent }))

  test('a header of the manifest replaces ours; an empty Accept is none; no header breaks a line', () => {
    const headers = [
      { name: 'user-agent', value: 'mine' },
      { name: 'Accept', value: '' },
      { name: 'X-A', value: 'a\r\nb' },
      { name: 'X-A', value: 'c' },
      { name: 'Host', value: 'web.example' },
    ]
    expect((request({ headers }) as GetRequest).headers).toEqual([
      ...['user-agent', 'mine', 'X-A', 'a  b', 'X-A', 'c', 'Host', 'web.example'],
    ])
  })
})

describe('redirects', () => {
  const first = request() as GetRequest
  const redirect = (location: string | undefined, status = 302): GetAnswer => ({
    kind: 'answer',
    status,
    location,
    body: '',
  })

  for (const { name, location, next } of [
    { name: 'a path', location: '/other?x=1', next: { host: '10.1.2.3', port: 80, path: '/other?x=1' } },
    {
      name: 'the same host on another port',
      location: 'https://10.1.2.3:8443/',
      next: { port: 8443, tls: true },
    },
  ])
    test(`${name} is followed`, () =>
      expect(nextRequest(first, first, redirect(location), 0)).toMatchObject(next))

  for (const { name, answer } of [
    { name: 'another host', answer: redirect('http://169.254.169.254/latest') },
    { name: 'no place', answer: redirect(undefined) },
    { name: 'no redirect', answer: redirect('/x', 304) },
  ])
    test(`${name} is not followed and is a warning`, () => {
      expect(nextRequest(first, first, answer, 0)).toBeUndefined()
      expect(outcomeOfGet(answer)).toMatchObject({ kind: 'warning' })
    })

  test('an unreadable place, another scheme and the eleventh redirect are failures', () => {
    expect(nextRequest(first, first, redirect('http://['), 0)).toBe('failed to parse Location header')
    expect(nextRequest(first, first, redirect('file:///etc/passwd'), 0)).toContain('unsupported protocol')
    expect(nextRequest(first, first, redirect('/again'), 10)).toBe('stopped after 10 redirects')
  })
})

describe('the answer', () => {
  for (const { status, kind } of [
    { status: 200, kind: 'success' },
    { status: 299, kind: 'success' },
    { status: 399, kind: 'warning' },
    { status: 400, kind: 'failure' },
    { status: 500, kind: 'failure' },
  ])
    test(`${status}: ${kind}`, () =>
      expect(outcomeOfGet({ kind: 'answer', status, location: undefined, body: 'secret' })).toMatchObject({
        kind,
      }))

  test('a failure does not show the body', () =>
    expect(outcomeOfGet({ kind: 'answer', status: 500, location: undefined, body: 'secret' })).toEqual({
      kind: 'failure',
      output: 'HTTP probe failed with statuscode: 500',
    }))
})
