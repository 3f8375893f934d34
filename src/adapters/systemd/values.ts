// Property values between our form and the library's variants.
import type { Variant } from '@jellybrick/dbus-next'
import type { SystemdProperty, SystemdValue } from '../../core/cgroup/systemd-properties.js'

type MakeVariant = (signature: string, value: unknown) => Variant

const signatureOf = (value: SystemdValue): string => (value.type === 'other' ? value.signature : value.type)

/** As the body of an `a(sv)`. */
export const toVariants = (properties: readonly SystemdProperty[], make: MakeVariant): [string, Variant][] =>
  properties.map(({ name, value }) => [name, make(signatureOf(value), value.value)])

const isVariant = (value: unknown): value is { signature: string; value: unknown } =>
  typeof value === 'object' && value !== null && 'signature' in value && 'value' in value

export function fromVariant(variant: unknown): SystemdValue {
  if (!isVariant(variant)) return { type: 'other', signature: '', value: variant }
  const { signature, value } = variant
  if (signature === 't' && typeof value === 'bigint') return { type: 't', value }
  if (signature === 'b' && typeof value === 'boolean') return { type: 'b', value }
  if (signature === 's' && typeof value === 'string') return { type: 's', value }
  if (signature === 'as' && Array.isArray(value)) return { type: 'as', value: value.map(String) }
  return { type: 'other', signature, value }
}
