// `keelson token`: prints the local token of this machine, or a link that logs a browser in once.
import { Command } from 'commander'
import type { Io } from '../io.js'
import { addAlias } from '../option-alias.js'
import { findServer, loginLink, requireToken, type ServerOptions, withServer } from './login-link.js'

interface TokenOptions extends ServerOptions {
  readonly login?: string | true
}

export const create = (io: Io): Command => addAlias(tokenCommand(io), '--file', '--token-file')

const tokenCommand = (io: Io): Command =>
  withServer(
    new Command('token').description(
      'Print the local token. It gives access to the servers of this machine when no API server is configured.\n\n' +
        '  curl -k -H "Authorization: Bearer $(keelson token)" https://127.0.0.1:10250/metrics\n' +
        '  keelson token --login https://127.0.0.1:10250',
    ),
  )
    .option('--login [url]', 'print a login link for a browser instead; valid once, for one minute')
    .action(async ({ login, ...given }: TokenOptions) => {
      const server = findServer(given, login === true ? undefined : login)
      io.stdout.write(`${login === undefined ? requireToken(server) : await loginLink(server)}\n`)
    })
