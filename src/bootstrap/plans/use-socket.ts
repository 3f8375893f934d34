// use-socket: another endpoint in every place that the kubelet takes it from on this node, and nothing else.
import { keelsonError } from '../../core/errors.js'
import { setEndpointInFlags, setEndpointInYaml } from '../edit-text.js'
import { flagsTextOf, instanceOf, type NodeFacts } from '../facts.js'
import { formatInstanceConfig } from '../instance-config.js'
import { endpointOfFlags, parseKubeletFlags, rewriteKubeletFlags, withoutEndpoint } from '../kubelet-flags.js'
import { criSocketAnnotation, instanceConfigPath, kubeletConfigPath, kubeletFlagsPath } from '../paths.js'
import { annotate, type FileWrite, type PlanPart } from '../plan.js'
import { decodeText } from '../yaml-text.js'

/** Two kinds of node: the flag in kubeadm-flags.env decides (gate off), or the instance file does (gate on). */
export function planUseSocket(facts: NodeFacts, endpoint: string): PlanPart {
  const instance = instanceOf(facts)
  const flagsText = flagsTextOf(facts)
  const flags = flagsText === undefined ? undefined : parseKubeletFlags(flagsText)
  const byFlag = instance === undefined && endpointOfFlags(flags) !== undefined
  const annotation = facts.cluster?.annotation
  const cluster =
    annotation === undefined || annotation === endpoint ? [] : [annotate(facts.nodeName, endpoint)]
  if (byFlag)
    return {
      writes: [
        { path: kubeletFlagsPath, text: setEndpointInFlags(flagsText ?? '', endpoint, kubeletFlagsPath) },
      ],
      cluster,
      notices:
        facts.cluster === undefined
          ? [
              `no kubeconfig was set; if the Node has the annotation ${criSocketAnnotation}, change it too: kubectl annotate --overwrite node ${facts.nodeName} ${criSocketAnnotation}=${endpoint}`,
            ]
          : [],
    }
  return { writes: instanceWrites(facts, endpoint, flagsText), cluster, notices: [] }
}

function instanceWrites(facts: NodeFacts, endpoint: string, flagsText: string | undefined): FileWrite[] {
  if (facts.config === undefined)
    throw keelsonError(
      'node.file-missing',
      `read ${kubeletConfigPath}: no such file; run init or join first`,
      {
        path: kubeletConfigPath,
      },
    )
  const instance =
    facts.instance === undefined
      ? formatInstanceConfig(endpoint)
      : setEndpointInYaml(decodeText(facts.instance, instanceConfigPath), endpoint, instanceConfigPath)
  const config = setEndpointInYaml(decodeText(facts.config, kubeletConfigPath), endpoint, kubeletConfigPath)
  const parsed = flagsText === undefined ? undefined : parseKubeletFlags(flagsText)
  const stale = endpointOfFlags(parsed) !== undefined
  return [
    { path: instanceConfigPath, text: instance },
    { path: kubeletConfigPath, text: config },
    // A left-over flag would beat what was just written.
    ...(stale && flagsText !== undefined && parsed !== undefined
      ? [{ path: kubeletFlagsPath, text: rewriteKubeletFlags(flagsText, withoutEndpoint(parsed.flags)) }]
      : []),
  ]
}
