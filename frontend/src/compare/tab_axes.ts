// Each tab keeps its own axis: leaving the trend and returning restores what was chosen there, and
// so for the tabs over loads, which share one axis.
import type { TimeAxis, View } from "../charts/view";
import { viewOf, withView } from "../charts/views";
import { type RankedLoad, valuesIn, withValues } from "../query/query";

/** What a view with an axis of its own changes. */
const AXIS_KEYS = ["x", "at", "logx", "connections", "rate"];

export class TabAxes {
  /** By whether the tab has an axis of its own: the values of the keys when it was left. */
  readonly #left = new Map<boolean, ReadonlyMap<string, readonly string[]>>();

  /** The query that opens a view from the view of `query`. `axis`: of a trend. */
  open(query: string, view: View, load: RankedLoad | null, axis?: TimeAxis): string {
    const [before, after] = [hasOwnAxis(viewOf(query)), hasOwnAxis(view)];
    if (before === after) return withView(query, view, load);
    this.#left.set(before, new Map(AXIS_KEYS.map((key) => [key, valuesIn(query, key)])));
    let opened = withView(query, view, load, axis);
    for (const [key, values] of this.#left.get(after) ?? [])
      opened = withValues(opened, key, values);
    return opened;
  }
}

export function hasOwnAxis(view: View): boolean {
  return view.open !== undefined;
}
