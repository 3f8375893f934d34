// Refusals and errors as HTTP answers: plain text as the upstream kubelet sends it, a Status object for a client
// that asks for JSON. The table from error code to HTTP status is here and nowhere else.
import type { ErrorCode, KeelsonError } from '../core/errors.js'
import type { HttpRequest, HttpResponse } from '../ports/http.js'
import { loginPage, loginPolicy } from './login-page.js'

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'Timeout',
  409: 'Conflict',
  413: 'RequestEntityTooLarge',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

const statusOfCode: Partial<Record<ErrorCode, number>> = {
  'request.invalid': 400,
  'request.unprocessable': 422,
  'pod.not-started': 400,
  'request.too-large': 413,
  'request.timeout': 504,
  'runtime.deadline': 504,
  'input.unreadable': 404,
  'pod.not-found': 404,
}

/** Nothing of ours is for caches or for guessing browsers. */
export const safeHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

interface FailureOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly close?: boolean
}

const wants = (request: Pick<HttpRequest, 'headers'>, type: RegExp): boolean =>
  (request.headers.get('accept') ?? []).some((value) => type.test(value))
const wantsJson = (request: Pick<HttpRequest, 'headers'>): boolean => wants(request, /\bapplication\/json\b/)

export function failure(
  request: Pick<HttpRequest, 'headers'>,
  status: number,
  message: string,
  options: FailureOptions = {},
): HttpResponse {
  const json = wantsJson(request)
  const isPage = status === 401 && !json && wants(request, /\btext\/html\b/)
  const body = isPage
    ? loginPage(message, request.headers.get('host')?.[0])
    : json
      ? JSON.stringify({
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message,
          reason: reasons[status] ?? 'Unknown',
          code: status,
        })
      : message
  return {
    status,
    headers: {
      ...safeHeaders,
      'content-type': json
        ? 'application/json'
        : isPage
          ? 'text/html; charset=utf-8'
          : 'text/plain; charset=utf-8',
      ...(isPage ? { 'content-security-policy': loginPolicy } : {}),
      ...options.headers,
    },
    body: `${body}\n`,
    ...(options.close === true ? { close: true } : {}),
  }
}

export const errorAnswer = (request: Pick<HttpRequest, 'headers'>, error: KeelsonError): HttpResponse => {
  const status = statusOfCode[error.code] ?? 500
  // The rest of a body that was too large is not worth reading.
  return failure(request, status, error.message, { close: status === 413 })
}

export const textAnswer = (body: string, status = 200): HttpResponse => ({
  status,
  headers: { ...safeHeaders, 'content-type': 'text/plain; charset=utf-8' },
  body,
})

export const jsonAnswer = (value: unknown, status = 200): HttpResponse => ({
  status,
  headers: { ...safeHeaders, 'content-type': 'application/json' },
  body: JSON.stringify(value, (_, v: unknown) => (typeof v === 'bigint' ? v.toString() : v)),
})
