// Which child of a pod's cgroup is a container's: runtimes put the container's id into the name, each in its own way.

/** `<id>`, `cri-containerd-<id>.scope`, `crio-<id>.scope`; conmon's own cgroup carries the id too and is not it. */
export function findContainerCgroup(children: readonly string[], id: string): string | undefined {
  return children.find(
    (name) =>
      !name.startsWith('crio-conmon-') &&
      (name === id || name.endsWith(`-${id}.scope`) || name.endsWith(`-${id}`) || name.endsWith(`:${id}`)),
  )
}
