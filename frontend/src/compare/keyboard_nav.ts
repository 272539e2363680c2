// Arrow keys through the points of the main chart, with each point spoken in a live region.
import {
  everyValue,
  type Figures,
  fullLabel,
  type MetricId,
  measureOf,
  metricOf,
  type X,
} from "../api/figures";
import { bandName, bandsOf, shareOf } from "../charts/errors";
import { curvesOf, TICKS, valueAt } from "../charts/percentiles";
import { ERROR_LIMIT, spoken } from "../charts/sweep";
import { latencyOf, tradeoffPoints, tradeSpoken } from "../charts/tradeoff";
import type { View } from "../query/query";
import { isolated, kindOf, loadPoint, percentile, short, single, unitFor } from "../text/format";

export interface Spot {
  readonly series: number;
  readonly point: number;
}

export interface Stop {
  /** The x it stands for; null on an axis of percentiles. */
  readonly x: X | null;
  readonly said: string;
}

export interface Trail {
  readonly series: string;
  readonly label: string;
  readonly stops: readonly Stop[];
}

/** What the arrow keys go through: each series with the sentences of its points. */
export function trails(figures: Figures, view: View, metric: MetricId): readonly Trail[] {
  const said = stopsOf(figures, view, metric);
  return figures.series
    .map((series, index) => ({
      series: series.id,
      label: isolated(short(fullLabel(figures, series))),
      stops: said(index),
    }))
    .filter((trail) => trail.stops.length > 0);
}

function stopsOf(
  figures: Figures,
  view: View,
  metric: MetricId,
): (series: number) => readonly Stop[] {
  if (view === "nines") return (index) => ninesStops(figures, index);
  if (view === "tradeoff") return (index) => tradeStops(figures, index, metric);
  if (view === "errors") return (index) => errorStops(figures, index);
  return (index) => sweepStops(figures, index, metric);
}

function sweepStops(figures: Figures, index: number, metric: MetricId): Stop[] {
  const described = metricOf(figures, metric);
  const unit = unitFor(kindOf(described.unit), everyValue(figures, metric));
  return (figures.series[index]?.points ?? []).map((point) => {
    const measure = measureOf(point, metric);
    const value = spoken(
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
    return {
      x: point.x,
      said: `at ${loadPoint(point.x, figures.x.label)}: ${described.label} ${value}`,
    };
  });
}

function ninesStops(figures: Figures, index: number): Stop[] {
  const curve = curvesOf(figures).find((one) => one.series === figures.series[index]?.id);
  return TICKS.flatMap((percent) => {
    const value = curve ? valueAt(curve, percent) : null;
    return value === null
      ? []
      : [{ x: null, said: `${percentile(percent)} ${single("time", value)}` }];
  });
}

function tradeStops(figures: Figures, index: number, metric: MetricId): Stop[] {
  const latency = latencyOf(figures, metric);
  const series = figures.series[index];
  return (series ? tradeoffPoints(series, latency, false) : []).map((point) => ({
    x: point.at,
    said: `at ${tradeSpoken(figures, point, latency)}`,
  }));
}

function errorStops(figures: Figures, index: number): Stop[] {
  return (figures.series[index]?.points ?? []).map((point) => {
    const shares = bandsOf(figures)
      .filter((band) => band === "total" || (shareOf(point, band) ?? 0) > 0)
      .map((band) => `${single("ratio", shareOf(point, band))} ${bandName(band)}`);
    return { x: point.x, said: `at ${loadPoint(point.x, figures.x.label)}: ${shares.join(", ")}` };
  });
}

export function step(all: readonly Trail[], from: Spot | null, key: string): Spot | null {
  const count = all.length;
  if (count === 0) return null;
  if (!from) return { series: 0, point: 0 };
  const turn = key === "ArrowUp" ? count - 1 : key === "ArrowDown" ? 1 : 0;
  const series = (from.series + turn) % count;
  const last = (all[series]?.stops.length ?? 1) - 1;
  const move = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  return { series, point: Math.min(Math.max(from.point + move, 0), Math.max(last, 0)) };
}

export function sentence(all: readonly Trail[], spot: Spot): string {
  const trail = all[spot.series];
  const stop = trail?.stops[spot.point];
  return trail && stop ? `${trail.label} ${stop.said}` : "";
}
