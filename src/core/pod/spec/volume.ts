// Volumes as a node mounts them: one type for each kind that it can, with defaults filled in.

export const hostPathTypes = [
  'DirectoryOrCreate',
  'Directory',
  'FileOrCreate',
  'File',
  'Socket',
  'CharDevice',
  'BlockDevice',
] as const
export type HostPathType = (typeof hostPathTypes)[number]

/** A key of a config map or a secret, and the file that it becomes. */
export interface KeyToPath {
  readonly key: string
  readonly path: string
  readonly mode: number | undefined
}

/** A config map or a secret of the pod's namespace. */
export interface KeyedSource {
  readonly object: string
  /** Empty: every key is a file. */
  readonly items: readonly KeyToPath[]
  /** The object and the keys of `items` need not exist. */
  readonly optional: boolean
}

/** An amount of one of the pod's containers; what spec.ts calls ResourceField. */
interface ContainerAmount {
  readonly container: string | undefined
  readonly resource: string
  readonly divisor: string
}

export interface DownwardFile {
  readonly path: string
  readonly mode: number | undefined
  readonly value: { readonly fieldPath: string } | { readonly resource: ContainerAmount }
}

export type Projection =
  | ({ readonly kind: 'configMap' | 'secret' } & KeyedSource)
  | { readonly kind: 'downwardAPI'; readonly items: readonly DownwardFile[] }
  | {
      readonly kind: 'serviceAccountToken'
      readonly path: string
      /** Empty: the API server's own. */
      readonly audience: string
      readonly expirationSeconds: number
    }
  | TrustBundleProjection

export interface TrustBundleProjection {
  readonly kind: 'clusterTrustBundle'
  readonly path: string
  readonly optional: boolean
  readonly of:
    | { readonly name: string }
    | { readonly signerName: string; readonly labels: TrustBundleSelector | undefined }
}

/** Undefined in place of it selects nothing; one without any rule selects everything. */
export interface TrustBundleSelector {
  readonly matchLabels: ReadonlyMap<string, string>
  readonly matchExpressions: readonly {
    readonly key: string
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
    readonly values: readonly string[]
  }[]
}

interface Named {
  readonly name: string
}

export type Volume = Named &
  (
    | {
        readonly kind: 'emptyDir'
        readonly medium: 'disk' | 'memory' | 'hugepages'
        /** Of huge pages; undefined: the one size that the containers ask for. */
        readonly pageSize: bigint | undefined
        /** Bytes. */
        readonly sizeLimit: bigint | undefined
      }
    | {
        readonly kind: 'hostPath'
        readonly path: string
        /** Undefined: nothing is checked. */
        readonly type: HostPathType | undefined
      }
    | ({ readonly kind: 'configMap' | 'secret'; readonly defaultMode: number } & KeyedSource)
    | { readonly kind: 'downwardAPI'; readonly defaultMode: number; readonly items: readonly DownwardFile[] }
    | { readonly kind: 'projected'; readonly defaultMode: number; readonly sources: readonly Projection[] }
    | {
        readonly kind: 'persistentVolumeClaim'
        /** Undefined: the claim that the cluster made for this volume of the pod. */
        readonly claimName: string | undefined
        readonly readOnly: boolean
      }
    | {
        readonly kind: 'image'
        readonly reference: string
        readonly pullPolicy: 'Always' | 'IfNotPresent' | 'Never'
      }
    /** Of the API server, which is right to accept it: the pod waits, with an event that says why. */
    | { readonly kind: 'unsupported'; readonly source: string }
  )

export interface VolumeMount {
  readonly volume: string
  readonly path: string
  readonly readOnly: boolean
  readonly recursiveReadOnly: 'Disabled' | 'IfPossible' | 'Enabled'
  readonly propagation: 'None' | 'HostToContainer' | 'Bidirectional'
  /** Relative, without `..`; `expression`: with references to variables of the container. */
  readonly subPath: { readonly kind: 'path' | 'expression'; readonly text: string } | undefined
}
