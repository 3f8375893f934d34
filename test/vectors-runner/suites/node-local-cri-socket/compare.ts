// The node after the command against what the case expects of it.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { criSocketAnnotation } from '../../../../src/bootstrap/paths.js'
import { isSameValue } from '../../../../src/bootstrap/yaml-text.js'
import { type Difference, type Fields, isFields } from '../../types.js'
import type { ActResult } from './act.js'
import { nodeName, type Scene } from './arrange.js'

const read = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined)

export async function compareError(scene: Scene, expected: Fields, result: ActResult): Promise<Difference[]> {
  if (result.kind !== 'error') return [{ path: 'outcome', expected: 'error', got: 'ok' }]
  const words = Array.isArray(expected.errorContains) ? expected.errorContains.map(String) : []
  const missing = words.filter((w) => !result.message.toLowerCase().includes(w.toLowerCase()))
  const differences: Difference[] = await compareFiles(scene, expected)
  if (missing.length > 0) differences.push({ path: 'errorContains', expected: missing, got: result.message })
  differences.push(...compareAnnotation(scene, expected))
  if (scene.clusterState() !== scene.clusterBefore)
    differences.push({ path: 'cluster', expected: scene.clusterBefore, got: scene.clusterState() })
  return differences
}

export async function compareSuccess(
  scene: Scene,
  expected: Fields,
  result: ActResult,
): Promise<Difference[]> {
  if (result.kind === 'error') return [{ path: 'outcome', expected: 'ok', got: `error: ${result.message}` }]
  const { report } = result
  const differences = [...(await compareFiles(scene, expected)), ...compareAnnotation(scene, expected)]
  const check = (path: string, want: unknown, got: unknown) => {
    if (!isSameValue(want, got)) differences.push({ path, expected: want, got })
  }
  const socket = isFields(report.criSocket) ? report.criSocket.endpoint : undefined
  if ('criSocketUsed' in expected) check('criSocketUsed', expected.criSocketUsed, socket)
  if ('warnings' in expected) check('warnings', idsOf(expected.warnings), idsOf(report.warnings))
  if ('kubeletConfigMapEndpoint' in expected)
    check('kubeletConfigMapEndpoint', expected.kubeletConfigMapEndpoint, configMapEndpoint(scene))
  if (isFields(expected.wouldWrite)) compareWouldWrite(expected.wouldWrite, report.wouldWrite, differences)
  if (Array.isArray(expected.wouldDeleteContentsOf)) {
    const named = Array.isArray(report.wouldDeleteContentsOf) ? report.wouldDeleteContentsOf : []
    check(
      'wouldDeleteContentsOf',
      [],
      expected.wouldDeleteContentsOf.filter((d) => !named.includes(d)),
    )
  }
  if (isFields(expected.backupOf))
    for (const path of Object.keys(expected.backupOf))
      if (!(await backups(scene)).includes(scene.filesBefore[path] ?? ''))
        differences.push({
          path: `backupOf.${path}`,
          expected: scene.filesBefore[path],
          got: 'no such backup',
        })
  return differences
}

const idsOf = (list: unknown): string[] =>
  (Array.isArray(list) ? list : []).map((w: unknown) => (isFields(w) ? String(w.id) : String(w))).sort()

function compareAnnotation(scene: Scene, expected: Fields): Difference[] {
  if (!('annotation' in expected)) return []
  const got = scene.cluster.nodes.get(nodeName)?.get(criSocketAnnotation) ?? null
  return got === expected.annotation ? [] : [{ path: 'annotation', expected: expected.annotation, got }]
}

function configMapEndpoint(scene: Scene): unknown {
  const text = scene.cluster.configMaps.get('kubelet-config')?.get('kubelet')
  const document: unknown = text === undefined ? undefined : parse(text)
  return isFields(document) ? (document.containerRuntimeEndpoint ?? '') : undefined
}

async function compareFiles(scene: Scene, expected: Fields): Promise<Difference[]> {
  const differences: Difference[] = []
  for (const [path, want] of Object.entries(isFields(expected.files) ? expected.files : {})) {
    const got = await read(join(scene.root, path))
    if (!isFields(want) || !isWanted(want, got, scene.filesBefore[path]))
      differences.push({ path: `files.${path}`, expected: want, got: got ?? 'absent' })
    if (isFields(want) && ('text' in want || 'yaml' in want) && got !== undefined) {
      const mode = (await stat(join(scene.root, path))).mode & 0o7777
      if (mode !== 0o644) differences.push({ path: `mode.${path}`, expected: '644', got: mode.toString(8) })
    }
  }
  return differences
}

function isWanted(want: Fields, got: string | undefined, before: string | undefined): boolean {
  if (want.state === 'absent') return got === undefined
  if (want.state === 'unchanged') return got !== undefined && got === before
  if (typeof want.text === 'string') return got === want.text
  return 'yaml' in want && got !== undefined && isSameValue(parse(got), want.yaml)
}

function compareWouldWrite(want: Fields, shown: unknown, differences: Difference[]): void {
  const got = isFields(shown) ? shown : {}
  for (const path of new Set([...Object.keys(want), ...Object.keys(got)])) {
    const w = want[path]
    const text = got[path]
    if (!isFields(w) || typeof text !== 'string' || !isWanted(w, text, undefined))
      differences.push({ path: `wouldWrite.${path}`, expected: w, got: text })
  }
}

async function backups(scene: Scene): Promise<string[]> {
  const parent = join(scene.root, 'etc/kubernetes/tmp')
  const names = (await readdir(parent).catch(() => [])).filter((n) => n.startsWith('kubeadm-kubelet-config'))
  const texts = await Promise.all(names.map((n) => read(join(parent, n, 'config.yaml'))))
  return texts.filter((t): t is string => t !== undefined)
}
