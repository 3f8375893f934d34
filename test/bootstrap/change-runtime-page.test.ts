// docs/change-runtime.md, command by command on a temporary root: what the page shows is what a person gets.
import { spawn } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import {
  configPath,
  containerd,
  createTestNode,
  crio,
  effectiveEndpoint,
  flagsFile,
  flagsPath,
  instancePath,
  kubeletDocument,
  type TestNode,
} from './fixture.js'

const repository = resolve(import.meta.dirname, '../..')

interface Step {
  readonly command: string
  /** Empty: the page shows none. */
  readonly output: string
}

function stepsOf(page: string): Step[] {
  const blocks = [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map((m) => m[1] ?? '')
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .filter((s) => s !== '')
      .map((s) => {
        const [command = '', ...output] = s.split('\n')
        return { command, output: output.join('\n') }
      }),
  )
}

let node: TestNode | undefined
afterEach(async () => node?.close())

/** keelson on this root; kubectl and systemctl only write down that they were called. */
async function makeTools(of: TestNode): Promise<{ path: string; log: string }> {
  const path = join(of.top, 'bin')
  const log = join(of.top, 'calls')
  await mkdir(path)
  const tsx = join(repository, 'node_modules/tsx/dist/cli.mjs')
  const main = join(repository, 'src/cli/main.ts')
  const scripts = {
    keelson: `exec "${process.execPath}" "${tsx}" "${main}" "$@" --rootfs "${of.root}"`,
    kubectl: `echo "kubectl $*" >> "${log}"`,
    systemctl: `echo "systemctl $*" >> "${log}"`,
  }
  for (const [name, body] of Object.entries(scripts)) {
    await writeFile(join(path, name), `#!/bin/sh\n${body}\n`)
    await chmod(join(path, name), 0o755)
  }
  return { path, log }
}

const run = (command: string, path: string): Promise<{ status: number | null; output: string }> =>
  new Promise((done, failed) => {
    const child = spawn('/bin/sh', ['-c', command], {
      env: { PATH: `${path}:${process.env.PATH}` },
      timeout: 60_000,
    })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    child.once('error', failed)
    child.once('close', (status) => done({ status, output }))
  })

/** The test's node is below another root, which makes columns wider. */
const asOnHost = (output: string, root: string): string => output.replaceAll(root, '').replace(/ {2,}/g, '  ')

test('the page works as it stands', { timeout: 120_000 }, async () => {
  const page = await readFile(join(repository, 'docs/change-runtime.md'), 'utf8')
  const steps = stepsOf(page)
  expect(steps.length).toBeGreaterThan(10)
  node = await createTestNode()
  const before = {
    [instancePath]: `containerRuntimeEndpoint: "${containerd}"\n`,
    [configPath]: kubeletDocument(containerd),
    [flagsPath]: flagsFile(),
  }
  for (const [path, text] of Object.entries(before)) await node.put(path, text)
  await node.listen(containerd)
  await node.listen(crio)
  const { path, log } = await makeTools(node)
  for (const { command, output } of steps) {
    const here = command.startsWith('keelson')
      ? command
      : command.replaceAll('/var/lib/kubelet', `${node.root}/var/lib/kubelet`)
    const result = await run(here, path)
    expect(result.status, `${command}\n${result.output}`).toBe(0)
    if (output !== '') expect(asOnHost(result.output, node.root), command).toBe(asOnHost(output, node.root))
    if (command === `keelson node use-socket ${crio}`)
      expect(effectiveEndpoint(await node.files())).toBe(crio)
    if (command === 'keelson node use-socket --undo') expect(await node.files()).toEqual(before)
  }
  expect(effectiveEndpoint(await node.files())).toBe(crio)
  expect((await readFile(log, 'utf8')).trim().split('\n')).toEqual([
    'kubectl drain node-1 --ignore-daemonsets --delete-emptydir-data',
    'systemctl stop kubelet',
    'systemctl start kubelet',
    'kubectl uncordon node-1',
    'systemctl restart kubelet',
    'systemctl restart kubelet',
  ])
})
