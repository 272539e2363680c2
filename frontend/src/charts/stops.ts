// The points that the arrow keys reach in each view, each as a sentence.
import { type Figures, isFailing, type MetricId, measureOf, metricOf } from "../api/figures";
import { kindOf, loadPoint, percentile, single } from "../text/format";
import { bandName, bandsOf, shareOf } from "./errors";
import { PERCENTILE_TICKS, shownCurves, valueAt } from "./percentiles";
import { pointText } from "./sweep";
import { latencyOf, tradeoffPoints, tradeText } from "./tradeoff";
import type { Stop } from "./view";

export function sweepStops(figures: Figures, series: number, metric: MetricId): Stop[] {
  const described = metricOf(figures, metric);
  const kind = kindOf(described.unit);
  return (figures.series[series]?.points ?? []).map((point) => {
    const measure = measureOf(point, metric);
    const value = pointText(
      {
        y: measure?.value ?? null,
        low: measure?.low ?? null,
        high: measure?.high ?? null,
        overload: point.overload === true,
        failing: isFailing(point),
        trials: point.trials,
        step: measure?.step ?? null,
      },
      kind,
    );
    return {
      x: point.x,
      text: `at ${loadPoint(point.x, figures.x.label)}: ${described.label} ${value}`,
    };
  });
}

export function percentileStops(figures: Figures, series: number): Stop[] {
  const id = figures.series[series]?.id;
  const curve = shownCurves(figures).find((shown) => shown.series === id);
  return PERCENTILE_TICKS.flatMap((percent) => {
    const value = curve ? valueAt(curve, percent) : null;
    return value === null
      ? []
      : [{ x: null, text: `${percentile(percent)} ${single("time", value)}` }];
  });
}

export function tradeStops(figures: Figures, series: number, metric: MetricId): Stop[] {
  const latency = latencyOf(figures, metric);
  const points = figures.series
    .slice(series, series + 1)
    .flatMap((line) => [...tradeoffPoints(line, latency, false)]);
  return points.map((point) => ({
    x: point.at,
    text: `at ${tradeText(figures, point, latency)}`,
  }));
}

export function errorStops(figures: Figures, series: number): Stop[] {
  return (figures.series[series]?.points ?? []).map((point) => {
    const shares = bandsOf(figures)
      .filter((band) => band === "total" || (shareOf(point, band) ?? 0) > 0)
      .map((band) => `${single("ratio", shareOf(point, band))} ${bandName(band)}`);
    return { x: point.x, text: `at ${loadPoint(point.x, figures.x.label)}: ${shares.join(", ")}` };
  });
}
