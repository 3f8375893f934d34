// The dashboard's page at / and its files below /dashboard. Nothing in it comes from elsewhere, and the policy says so.
import type { HttpRequest, HttpResponse } from '../../ports/http.js'
import type { PageFile, PageFiles } from '../../ports/page-files.js'
import type { Endpoint } from '../endpoint.js'
import { failure, safeHeaders } from '../failures.js'

/** uPlot places its canvas and legend by style attributes, set from script, which the policy does not concern. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const pageHeaders = {
  ...safeHeaders,
  // Revalidated each time: a user without access must not find it in a cache.
  'cache-control': 'private, no-cache',
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  vary: 'accept-encoding',
} as const

const accepts = (request: HttpRequest, encoding: string): boolean =>
  (request.headers.get('accept-encoding') ?? []).some((value) =>
    value.split(',').some((part) => part.trim().split(';')[0] === encoding),
  )

function send(request: HttpRequest, file: PageFile): HttpResponse {
  const headers = { ...pageHeaders, 'content-type': file.type, etag: file.tag }
  if ((request.headers.get('if-none-match') ?? []).includes(file.tag))
    return { status: 304, headers, body: '' }
  return accepts(request, 'gzip')
    ? { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: file.gzip }
    : { status: 200, headers, body: file.body }
}

/** Undefined: this program was built without it. */
export function dashboardPage(files: PageFiles | undefined): readonly Endpoint[] {
  const answer = (request: HttpRequest, name: string): HttpResponse => {
    const file = files?.get(name)
    return file === undefined
      ? failure(
          request,
          404,
          files === undefined ? 'the dashboard is not built; run `npm run build`' : '404 page not found',
        )
      : send(request, file)
  }
  return [
    { name: 'dashboard', path: '/', methods: ['GET'], handle: (request) => answer(request, 'index.html') },
    {
      name: 'dashboard/files',
      path: '/dashboard/{file}',
      methods: ['GET'],
      handle: (request, { params }) => answer(request, params.file ?? ''),
    },
  ]
}
