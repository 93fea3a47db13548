/** Shows only the rows of a long list that are in view. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useEffect, useReducer, useState } from "preact/hooks";

interface VirtualOptions {
  count: number;
  scroller: RefObject<HTMLElement | null>;
  estimateSize: (index: number) => number;
  getKey: (index: number) => string | number;
  overscan?: number;
}

export function useVirtual(options: VirtualOptions): Virtualizer<HTMLElement, HTMLElement> {
  const [, redraw] = useReducer((drawn: number) => drawn + 1, 0);
  const settings = {
    count: options.count,
    getScrollElement: () => options.scroller.current,
    estimateSize: options.estimateSize,
    getItemKey: options.getKey,
    overscan: options.overscan ?? 8,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(undefined as never),
  };
  const [virtual] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(settings));
  virtual.setOptions(settings);
  useEffect(() => virtual._didMount(), []);
  useEffect(() => virtual._willUpdate());
  return virtual;
}

export function itemStyle({ start }: VirtualItem): { transform: string } {
  return { transform: `translateY(${start}px)` };
}
