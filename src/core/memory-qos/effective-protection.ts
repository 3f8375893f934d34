// How much of memory.min or memory.low really protects a cgroup. The kernel caps each level by its parent's effective
// value, for min and low apart: a container's value is void when one ancestor has none.

export interface ProtectionNode {
  readonly path: string
  /** Undefined: a child of the root cgroup, which the root does not cap. */
  readonly parent: string | undefined
  /** memory.min or memory.low in bytes. */
  readonly setting: bigint
  /** memory.current in bytes. */
  readonly usage: bigint
}

export interface EffectiveProtection {
  readonly effective: bigint
  /** The nearest ancestor whose effective value is too small for what is asked below it. */
  readonly cappedBy: string | undefined
}

interface ProtectionOptions {
  /** Mount option memory_recursiveprot (kernel 5.7): what children leave unclaimed is shared by their usage. Default true. */
  readonly recursive?: boolean
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Only memory in use is protected, so a claim above usage does not take from siblings. */
const claimed = (node: ProtectionNode): bigint => least(node.usage, node.setting)

function shareOf(
  node: ProtectionNode,
  parent: ProtectionNode,
  parentEffective: bigint,
  siblingsClaimed: bigint,
  recursive: boolean,
): bigint {
  const own = claimed(node)
  // Overcommitted: what the parent has is divided by what each child claims.
  if (siblingsClaimed > parentEffective)
    return siblingsClaimed === 0n ? 0n : (own * parentEffective) / siblingsClaimed
  const unclaimedUsage = parent.usage - siblingsClaimed
  if (!recursive || unclaimedUsage <= 0n || node.usage <= own) return own
  return own + ((parentEffective - siblingsClaimed) * (node.usage - own)) / unclaimedUsage
}

/** Nodes in any order; a parent that is not among them counts as the root. */
export function effectiveProtection(
  nodes: readonly ProtectionNode[],
  { recursive = true }: ProtectionOptions = {},
): ReadonlyMap<string, EffectiveProtection> {
  const byPath = new Map(nodes.map((node) => [node.path, node]))
  const claims = new Map<string, bigint>()
  for (const node of nodes)
    if (node.parent !== undefined) claims.set(node.parent, (claims.get(node.parent) ?? 0n) + claimed(node))
  const results = new Map<string, EffectiveProtection>()

  const resolve = (node: ProtectionNode): EffectiveProtection => {
    const known = results.get(node.path)
    if (known !== undefined) return known
    const parent = node.parent === undefined ? undefined : byPath.get(node.parent)
    const result =
      parent === undefined
        ? { effective: node.setting, cappedBy: undefined }
        : below(node, parent, resolve(parent))
    results.set(node.path, result)
    return result
  }

  const below = (
    node: ProtectionNode,
    parent: ProtectionNode,
    above: EffectiveProtection,
  ): EffectiveProtection => {
    const siblingsClaimed = claims.get(parent.path) ?? 0n
    const effective = shareOf(node, parent, above.effective, siblingsClaimed, recursive)
    const capped = siblingsClaimed > above.effective && effective < claimed(node)
    // The parent asks for enough itself but is capped further up: name that ancestor.
    const cause = parent.setting >= siblingsClaimed ? (above.cappedBy ?? parent.path) : parent.path
    return { effective, cappedBy: capped ? cause : undefined }
  }

  for (const node of nodes) resolve(node)
  return results
}
