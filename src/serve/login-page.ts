// What a browser without a session gets: the command that prints a login link, ready to copy.

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:12vh auto;padding:0 1.5rem;color:#16202b;background:#f3f5f8}code{display:block;padding:.8rem 1rem;margin:.6rem 0;background:#fff;border:1px solid #d9e0e8;border-radius:8px;overflow-wrap:anywhere;user-select:all}.dim{color:#566473}@media(prefers-color-scheme:dark){body{color:#e6edf4;background:#0e1319}code{background:#171e27;border-color:#2b3744}.dim{color:#9fb0c1}}'

/** Of the style above; a test computes it. Nothing else may be loaded or run. */
export const loginPolicy =
  "default-src 'none'; style-src 'sha256-8vqbjq5JwVjoBHD65gHHRHLjqOvt2DtLLWhCvamPxnA='"

/** Only what a host can be: the page repeats nothing else of the request. */
const hostPattern = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9.-]{1,253})(:\d{1,5})?$/i

export const loginPage = (message: string, host: string | undefined): string => {
  const url = host !== undefined && hostPattern.test(host) ? ` https://${host}` : ''
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Keelson: log in</title><style>${style}</style></head>
<body><main><h1>Log in</h1><p>${message.replace(/[&<>]/g, '')}</p>
<p>On the node, as the user that runs Keelson (usually root):</p>
<code>keelson dashboard${url}</code>
<p>Open the link that it prints. It is valid once, for one minute.</p>
<p class="dim">A server with files in other places: add --root-dir, or --token-file and --certificate.</p></main></body></html>`
}
