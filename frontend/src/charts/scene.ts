// What a page or a picture draws: the figures, the question, and what the reader chose to see.
import type { Figures, MetricId } from "../api/figures";
import { limitOf, logX, logY, valueIn } from "../query/query";
import type { ChartOptions } from "./view";

export interface Scene {
  readonly figures: Figures;
  readonly query: string;
  readonly metric: MetricId;
  /** Series drawn in colour, by id. */
  readonly highlighted: ReadonlySet<string>;
  /** All figures, where `figures` are a part of them: whether an axis is logarithmic follows these. */
  readonly whole?: Figures;
}

/** How the charts of a scene are drawn on a canvas of this theme and size. */
export function chartOptions(
  { figures, query, metric, highlighted, whole = figures }: Scene,
  canvas: Pick<ChartOptions, "theme" | "size" | "labelWidth">,
): ChartOptions {
  return {
    metric,
    highlighted,
    logX: logX(query, whole.x.values),
    logY: logY(query),
    at: figures.ranking?.x ?? null,
    zoomed: valueIn(query, "zoom") !== null,
    limit: limitOf(query) ?? figures.capacity?.limit_us ?? null,
    ...canvas,
  };
}
