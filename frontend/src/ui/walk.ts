// Arrow keys through the points of the main chart, with each point spoken in a live region.
import { everyValue, type Figures, type MetricId, measureOf, metricOf } from "../api/figures";
import { ERROR_LIMIT, spoken } from "../charts/sweep";
import { kindOf, loadPoint, unitFor } from "../text/format";

export interface Spot {
  readonly series: number;
  readonly point: number;
}

export function step(figures: Figures, from: Spot | null, key: string): Spot | null {
  const count = figures.series.length;
  if (count === 0) return null;
  if (!from) return { series: 0, point: 0 };
  const turn = key === "ArrowUp" ? count - 1 : key === "ArrowDown" ? 1 : 0;
  const series = (from.series + turn) % count;
  const last = (figures.series[series]?.points.length ?? 1) - 1;
  const move = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  return { series, point: Math.min(Math.max(from.point + move, 0), Math.max(last, 0)) };
}

export function sentence(figures: Figures, metric: MetricId, spot: Spot): string {
  const series = figures.series[spot.series];
  const point = series?.points[spot.point];
  if (!series || !point) return "";
  const described = metricOf(figures, metric);
  const unit = unitFor(kindOf(described.unit), everyValue(figures, metric));
  const measure = measureOf(point, metric);
  const said = spoken(
    {
      y: measure?.value ?? null,
      low: measure?.low ?? null,
      high: measure?.high ?? null,
      overload: point.overload === true,
      failing: (measureOf(point, "error_rate")?.value ?? 0) > ERROR_LIMIT,
      trials: point.trials,
    },
    unit,
    described.unit,
  );
  return `${series.label} at ${loadPoint(point.x, figures.x.label)}: ${described.label} ${said}`;
}
