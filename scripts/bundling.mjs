// How every bundle of this repository is made: one ESM text for node. CommonJS packages inside it need `require`; the banner gives it
// to them.
export const forNode = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'silent',
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
}
