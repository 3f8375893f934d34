// Builds the dashboard into a directory: one page, one script, one style sheet, one icon, and each of them compressed, so that no
// daemon does it at its start. Nothing refers to elsewhere.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** @param {string} directory */
export async function buildDashboard(directory) {
  mkdirSync(directory, { recursive: true })
  const result = await build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: { app: 'src/dashboard/main.tsx' },
    outdir: directory,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome111', 'firefox113', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'silent',
  })
  copyFileSync(join(root, 'src/dashboard/page.html'), join(directory, 'index.html'))
  copyFileSync(join(root, 'src/dashboard/icon.svg'), join(directory, 'icon.svg'))
  for (const name of ['index.html', 'app.js', 'app.css', 'icon.svg']) {
    const file = join(directory, name)
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
  }
  return result
}
