/**
 * An ESM import of node:http reads every export of it, and from Node 22 on one of them loads undici: 25 ms and several MiB
 * that nothing here uses. `require` reads none.
 */
const httpByRequire = {
  name: 'http-by-require',
  /** @param {import('esbuild').PluginBuild} build */
  setup(build) {
    build.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'require-call' ? undefined : { path: 'node:http', namespace: 'by-require' },
    )
    build.onLoad({ filter: /.*/, namespace: 'by-require' }, () => ({
      contents: "module.exports = require('node:http')",
    }))
  },
}

// How every bundle of this repository is made: one ESM text for node. CommonJS packages inside it need `require`; the banner gives it
// to them.
export const forNode = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'silent',
  plugins: [httpByRequire],
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
}
