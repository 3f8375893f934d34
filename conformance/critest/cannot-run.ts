// The specs of the pinned critest that do not pass on Debian's containerd 1.6 here, each with its reason. The unit fails when
// a spec is missing from this list, and when a spec on it passes; docs/conformance.md has the same list.

export const places = ['host', 'uml', 'qemu'] as const
export type Place = (typeof places)[number]

export interface CannotRun {
  readonly why: string
  /** What the names of the specs below begin with. */
  readonly group: string
  readonly specs: readonly string[]
}

const userNamespaces = 'Security Context: UserNamespaces: when Host idmap mount support is'
const appArmor = [
  'should fail with an unloaded apparmor_profile',
  'should enforce a apparmor_profile blocking writes',
]

export const cannotRun: readonly CannotRun[] = [
  {
    why: 'containerd 1.6 answers NOT_FOUND; later versions answer success',
    group: 'Idempotence',
    specs: [
      'StopContainer: should not return an error if not found',
      'StopPodSandbox: should not return an error if not found',
    ],
  },
  {
    why: 'the image is named by the digest of bytes that only its publisher has',
    group: 'Image Manager',
    specs: ['public image with digest should be pulled and removed [Conformance]'],
  },
  {
    why: "masks /bin/ls, which in our image is the busybox that the shell is too; a shell of Debian's busybox would run its own ls anyway",
    group: 'Security Context: bucket',
    specs: ['runtime should support MaskedPaths'],
  },
  {
    why: 'containerd 1.6 has no recursive read-only mounts',
    group: 'Container Mount Readonly: runtime should support readonly mounts',
    specs: [
      'should support recursive readonly mounts',
      'should reject a recursive readonly mount with PROPAGATION_HOST_TO_CONTAINER',
      'should reject a recursive readonly mount with PROPAGATION_BIDIRECTIONAL',
      'should reject a recursive readonly mount with ReadOnly: false',
    ],
  },
  {
    why: 'containerd 1.6 does not fill image_id',
    group: 'Image Identifier Consistency',
    specs: [
      'should return the same image identifier across all APIs [Conformance]',
      'should return the same image identifier when pulled from different registries [Conformance]',
    ],
  },
  {
    why: 'containerd 1.6 has no SupplementalGroupsPolicy',
    group: 'Security Context: SupplementalGroupsPolicy: when SupplementalGroupsPolicy',
    specs: [
      "=Merge (Default): if the container's primary UID belongs to some groups in the image, runtime should add SupplementalGroups to them",
      "=Strict: even if the container's primary UID belongs to some groups in the image, runtime should not add SupplementalGroups to them",
    ],
  },
  {
    why: 'containerd 1.6 has no user namespaces',
    group: userNamespaces,
    specs: [
      ' needed: runtime should support NamespaceMode_POD',
      ' not needed: runtime should support NamespaceMode_NODE',
      ' not needed: runtime should fail if more than one mapping provided',
      ' not needed: runtime should fail if container ID 0 is not mapped',
      ' not needed: runtime should fail with NamespaceMode_CONTAINER',
      ' not needed: runtime should fail with NamespaceMode_TARGET',
    ],
  },
  ...(['deprecated apparmor_profile field', 'apparmor field'] as const).map((field) => ({
    why: 'the kernel has no AppArmor',
    group: `AppArmor: runtime should support ${field}`,
    specs: [...appArmor, 'should enforce a permissive deprecated profile'],
  })),
  {
    why: 'the kernel has no AppArmor',
    group: 'AppArmor: runtime should prefer new apparmor field',
    specs: [...appArmor, 'should work with apparmor profile'],
  },
]

/** Full names. */
export const specsOf = ({ group, specs }: CannotRun): string[] =>
  specs.map((spec) => (/^[ =]/.test(spec) ? `${group}${spec}` : `${group}: ${spec}`))

/** The whole suite runs on the host only; what runs in a machine passes there. */
export const cannotRunAt = (place: Place): ReadonlySet<string> =>
  new Set(place === 'host' ? cannotRun.flatMap(specsOf) : [])

/** The least number of specs that pass directly. */
export const leastPassed: Readonly<Record<Place, number>> = { host: 90, uml: 21, qemu: 0 }
