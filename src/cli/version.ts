// The package's version, put in by the bundler; a run from source says so. `keelson version` is what to write into a bug report.
import { Command, Option } from 'commander'
import { defaultVersion, formatVersion, newestMinor, oldestMinor } from '../core/release/version.js'
import type { Io } from './io.js'

declare const __KEELSON_VERSION__: string | undefined

export const version = typeof __KEELSON_VERSION__ === 'string' ? __KEELSON_VERSION__ : '0.0.0-source'

export const create = (io: Io): Command =>
  new Command('version')
    .description(
      'Print the version of this program, of Node and of the Kubernetes releases whose rules it knows.',
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .action(({ output }: { readonly output: 'text' | 'json' }) => {
      const value = {
        version,
        node: process.version,
        platform: `${process.platform}/${process.arch}`,
        kubernetes: {
          oldest: `1.${oldestMinor}`,
          newest: `1.${newestMinor}`,
          default: formatVersion(defaultVersion),
        },
      }
      const { oldest, newest, default: usual } = value.kubernetes
      io.stdout.write(
        output === 'json'
          ? `${JSON.stringify(value, null, 2)}\n`
          : `keelson ${version}\nNode.js ${value.node}, ${value.platform}\nKubernetes ${oldest} to ${newest}, ${usual} unless configured\n`,
      )
    })
