import { Component, type ComponentType, createElement, type VNode } from "preact";

/** Draws a component again only when one of its properties changed. */
export function memo<P extends object>(inner: (props: P) => VNode | null): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const keys = Object.keys(next) as (keyof P)[];
      return keys.some((key) => next[key] !== this.props[key]);
    }
    override render(): VNode {
      return createElement(inner as never, this.props as never);
    }
  };
}
