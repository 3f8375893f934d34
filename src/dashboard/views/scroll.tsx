// A wide thing that scrolls sideways on a narrow screen, also for those who have only a keyboard.
import type { ComponentChildren } from 'preact'

export const Scroll = ({
  label,
  children,
}: {
  readonly label: string
  readonly children: ComponentChildren
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
  <section class="scroll" tabIndex={0} aria-label={label}>
    {children}
  </section>
)
