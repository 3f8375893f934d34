// `npm run package [-- NAME...]`: builds npm, tarball, deb and image, or the named ones, into dist-packages/.
import { join, relative } from 'node:path'
import { buildPackages } from './build-packages.js'
import { root } from './release.js'

for await (const { path, bytes } of buildPackages(
  join(root, 'dist-packages'),
  process.argv.slice(2),
  new AbortController().signal,
))
  console.log(`${(bytes / 1e6).toFixed(1).padStart(6)} MB  ${relative(root, path)}`)
