// `cri install` and `uninstall` as plans: the server's unit, the kubelet's endpoint, and the tools' configuration.
import { setKeyInYaml } from '../edit-text.js'
import {
  crictlPath,
  criUnit,
  criUnitPath,
  criWantsPath,
  instanceConfigPath,
  kubeletConfigPath,
  kubeletFlagsPath,
} from '../paths.js'
import type { FileWrite, PlanPart } from '../plan.js'
import type { InstalledServer, UndoneFile } from '../undo-record.js'
import { parseYamlMap } from '../yaml-text.js'

const crictlKeys = ['runtime-endpoint', 'image-endpoint'] as const

/** Null: there was no such file, and both keys are needed. One that names no image endpoint uses the other for both. */
function crictlText(before: string | null, endpoint: string): string {
  if (before === null) return crictlKeys.map((key) => `${key}: ${JSON.stringify(endpoint)}\n`).join('')
  const has = parseYamlMap(before, crictlPath) ?? {}
  const keys = crictlKeys.filter((key, i) => i === 0 || (has[key] !== undefined && has[key] !== ''))
  return keys.reduce((text, key) => setKeyInYaml(text, key, endpoint, crictlPath), before)
}

interface InstallTexts {
  readonly unit: string
  /** What is there now. */
  readonly crictl: string | null
}

/** `part`: the kubelet's way to the server. */
export function planCriInstall(
  part: PlanPart,
  server: InstalledServer,
  { unit, crictl }: InstallTexts,
): PlanPart {
  return {
    ...part,
    writes: [
      { path: criUnitPath, text: unit },
      { path: criWantsPath, text: `../${criUnit}`, link: true },
      ...(part.writes ?? []),
      { path: crictlPath, text: crictlText(crictl, server.listen), basedOn: crictl },
    ],
    server: {
      unit: criUnit,
      put: true,
      paths: [criUnitPath, criWantsPath],
      endpoint: server.listen,
      wasActive: server.wasActive,
    },
  }
}

export const kubeletFiles: readonly string[] = [instanceConfigPath, kubeletConfigPath, kubeletFlagsPath]

/** An edited crictl.yaml: only the changes of the installation are reverted. */
export function crictlWithout(now: string, { before }: UndoneFile, server: InstalledServer): FileWrite {
  const had = before === null ? {} : (parseYamlMap(before, crictlPath) ?? {})
  const has = parseYamlMap(now, crictlPath) ?? {}
  const ours = crictlKeys.filter((key) => has[key] === server.listen)
  const text = ours.reduce((t, key) => {
    const value = had[key]
    return setKeyInYaml(
      t,
      key,
      typeof value === 'string' && value !== '' ? value : server.previous,
      crictlPath,
    )
  }, now)
  return { path: crictlPath, text, basedOn: now }
}
