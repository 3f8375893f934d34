// Shared with preflight: KEP-4656 moved the endpoint into a file, but a flag still overrides every file.
import { type Check, ok, warn } from '../check.js'

export const staleEndpointFlag: Check<{ readonly staleFlag: string | undefined }> = {
  name: 'stale-endpoint-flag',
  asks: 'Is config.yaml free of a stale flag that overrides it?',
  run: ({ staleFlag }) =>
    staleFlag === undefined
      ? ok('kubeadm-flags.env has no --container-runtime-endpoint')
      : warn(
          `kubeadm-flags.env still has --container-runtime-endpoint=${staleFlag}, which overrides config.yaml`,
          'remove the flag from kubeadm-flags.env and restart the kubelet',
        ),
}
