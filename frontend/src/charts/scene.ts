// What a page or a picture draws: the figures, the question, and what the reader chose to see.
import type { Figures, MetricId } from "../api/figures";
import { limitOf, logX, logY } from "../query/query";
import type { ChartOptions } from "./view";

export interface Scene {
  readonly figures: Figures;
  readonly query: string;
  readonly metric: MetricId;
  /** Series drawn in colour, by id. */
  readonly highlighted: ReadonlySet<string>;
}

/** How the charts of a scene are drawn on a canvas of this theme and size. */
export function chartOptions(
  { figures, query, metric, highlighted }: Scene,
  canvas: Pick<ChartOptions, "theme" | "size" | "labelWidth">,
): ChartOptions {
  return {
    metric,
    highlighted,
    logX: logX(query, figures.x.values),
    logY: logY(query),
    at: figures.ranking?.x ?? null,
    limit: limitOf(query) ?? figures.capacity?.limit_us ?? null,
    ...canvas,
  };
}
