// `keelson dashboard`: a link to the dashboard of a server of this machine.
import { Command } from 'commander'
import type { Io } from './io.js'
import { defaultServer } from './pods/find-kubelet.js'
import { findServer, loginLink, type ServerOptions, withServer } from './token/login-link.js'

export const create = (io: Io): Command =>
  withServer(
    new Command('dashboard')
      .description(
        'Print a link to the dashboard. It logs a browser in once and is valid for one minute.\n\n' +
          '  keelson dashboard                              a running keelson up, else the kubelet of this machine\n' +
          '  keelson dashboard https://127.0.0.1:10251      the companion\n' +
          '  keelson dashboard https://127.0.0.1:10252      the CRI server',
      )
      .argument('[url]', `URL of the server (default: a running keelson up, else ${defaultServer})`),
  ).action(async (url: string | undefined, given: ServerOptions) => {
    io.stdout.write(`${await loginLink(findServer(given, url))}\n`)
  })
