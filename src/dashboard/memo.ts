// A view that is drawn again only when one of its properties is another object. preact/compat has one; it is large.
import { Component, type ComponentChild, type FunctionComponent, h } from 'preact'

export function memo<P extends object>(view: (props: P) => ComponentChild): FunctionComponent<P> {
  class Kept extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const keys = new Set([...Object.keys(next), ...Object.keys(this.props)]) as Set<keyof P>
      for (const key of keys) if (next[key] !== (this.props as P)[key]) return true
      return false
    }

    override render(): ComponentChild {
      return view(this.props as P)
    }
  }
  return (props: P) => h(Kept as never, props as never)
}
