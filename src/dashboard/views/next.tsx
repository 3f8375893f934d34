// What the kernel does to a cgroup's memory now or next, with a sign that does not depend on colour.
import type { LiveNext } from '../../core/dashboard/model.js'

export const levelWords = { calm: 'OK', watch: 'Warning', act: 'Critical' } as const

export const Next = ({ next }: { readonly next: LiveNext }) => (
  <p class={`next ${next.level}`}>
    <span class="level">{levelWords[next.level]}</span> {next.text}
  </p>
)
