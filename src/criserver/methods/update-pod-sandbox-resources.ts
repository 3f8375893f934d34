// UpdatePodSandboxResources on a runtime without it: the pod's cgroup gets the values, where that cgroup is ours to write.
// Slices belong to systemd: there the call is answered only when the values are in place already.

import { grpcCode } from '../../core/cri/grpc-codes.js'
import { isSettled } from '../../core/kernel-text/read-back.js'
import { UpdatePodSandboxResourcesRequest, UpdatePodSandboxResourcesResponse } from '../../cri-api/api.js'
import { podValues } from '../unified/pod-values.js'
import { tryDecode } from '../wire.js'
import { type CriMethod, runtimePath } from './method.js'

export const updatePodSandboxResources: CriMethod = {
  path: runtimePath('UpdatePodSandboxResources'),
  async run(call, { cgroups, cgroupFinder, pageSize, log, table }) {
    const request = tryDecode(UpdatePodSandboxResourcesRequest, await call.readMessage())
    const answer = await call.ask()
    if (answer.code !== grpcCode.unimplemented || request === undefined) return await call.relay(answer)
    table.noteMissing(call.path)
    const pod = await cgroupFinder.ofPod(request.podSandboxId, call.signal)
    if (pod === undefined) {
      log.warn('a sandbox has no cgroup of its pod alone, UpdatePodSandboxResources stays unimplemented', {
        sandbox: request.podSandboxId,
      })
      return await call.relay(answer)
    }
    const values = podValues(request, cgroups.version)
    const text = (file: string): string => new TextDecoder().decode(cgroups.read(pod, file)).trim()
    const missing = Object.entries(values).filter(([file, v]) => !isSettled(file, v, text(file), pageSize))
    if (missing.length > 0 && pod.endsWith('.slice')) {
      log.warn("a pod's slice is systemd's to change, UpdatePodSandboxResources stays unimplemented", {
        sandbox: request.podSandboxId,
        missing: Object.fromEntries(missing),
      })
      return await call.relay(answer)
    }
    await cgroups.apply(pod, Object.fromEntries(missing), call.signal)
    return await call.reply(UpdatePodSandboxResourcesResponse.encode({ _unknownFields: {} }).finish())
  },
}
