// The kernel settings that a kubelet counts on: with them an allocation of a pod is refused late, an OOM kill ends a process
// and not the machine, and a machine that panics comes back. Pure; protectKernelDefaults asks for the check.

export const kernelDefaults = {
  'vm.overcommit_memory': '1',
  'vm.panic_on_oom': '0',
  'kernel.panic': '10',
  'kernel.panic_on_oops': '1',
  'kernel.keys.root_maxkeys': '1000000',
  'kernel.keys.root_maxbytes': '25000000',
} as const

interface DifferentSysctl {
  readonly name: string
  readonly wanted: string
  /** Undefined: this kernel does not have it, or it cannot be read. */
  readonly found: string | undefined
}

export const differentSysctls = (read: (name: string) => string | undefined): readonly DifferentSysctl[] =>
  Object.entries(kernelDefaults).flatMap(([name, wanted]) => {
    const found = read(name)
    return found === wanted ? [] : [{ name, wanted, found }]
  })
