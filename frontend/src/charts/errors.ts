// figures -> failed attempts by class: one band per class that occurred, all on one scale from
// zero and over one x axis, so that "what failed where" is read in a single look. Pure.
import type { ChartConfiguration, ChartDataset, Plugin } from "chart.js";
import { ERROR_CLASSES } from "../api/constants";
import { type ErrorClass, type Figures, measureOf, type Point, type X } from "../api/figures";
import { loadPoint, single } from "../text/format";
import { hoverPlugin } from "./plugins/hover";
import { niceTop } from "./ranking";
import { fontSize, placeOf, type Size, type TickScale, xScale, yScale } from "./style/axes";
import { baseOptions, type DrawnSeries, lineStyles } from "./style/line_style";
import type { ChartTheme } from "./style/theme";
import { joinsPoints } from "./sweep";
import { type TooltipText, tooltip } from "./tooltip";
import type { ChartOptions } from "./view";

export const CLASS_NAMES: Readonly<Record<ErrorClass, string>> = {
  connect: "not connected",
  read: "read failed",
  write: "write failed",
  timeout: "timed out",
  status: "error status",
  length: "wrong length",
  other: "other",
};

/** "total" is the error rate, whatever its classes. */
export type Band = "total" | ErrorClass;

export interface ErrorPoint {
  readonly x: number;
  readonly at: X;
  readonly y: number | null;
}

export interface ErrorDataset extends ChartDataset<"line", ErrorPoint[]>, DrawnSeries {
  readonly band: Band;
}

export type ErrorConfig = ChartConfiguration<"line", ErrorPoint[]>;

export function shareOf(point: Point, band: Band): number | null {
  if (band === "total") return measureOf(point, "error_rate")?.value ?? null;
  return point.errors?.[band] ?? null;
}

function allPoints(figures: Figures): readonly Point[] {
  return figures.series.flatMap((series) => [...series.points]);
}

/** The classes that occurred at all. */
export function classesIn(figures: Figures): readonly ErrorClass[] {
  const points = allPoints(figures);
  return ERROR_CLASSES.filter((name) => points.some((point) => (shareOf(point, name) ?? 0) > 0));
}

export function hasErrorClasses(figures: Figures): boolean {
  return classesIn(figures).length > 0;
}

/** The total, then the classes that occurred at all. */
export function bandsOf(figures: Figures): readonly Band[] {
  return ["total", ...classesIn(figures)];
}

/** The worst share of failed attempts of each series, by id. */
export function worstShares(figures: Figures): ReadonlyMap<string, number> {
  return new Map(
    figures.series.map(({ id, points }) => [
      id,
      Math.max(0, ...points.map((point) => shareOf(point, "total") ?? 0)),
    ]),
  );
}

/** Load points with failures of unknown class: their bands have gaps, not zeros. */
export function countUnclassified(figures: Figures): number {
  return allPoints(figures).filter(
    (point) =>
      (shareOf(point, "total") ?? 0) > 0 &&
      ERROR_CLASSES.every((name) => shareOf(point, name) === null),
  ).length;
}

export function bandName(band: Band): string {
  return band === "total" ? "all failures" : CLASS_NAMES[band];
}

/** Why there is nothing to draw; null where some share of failed attempts is known. */
export function whyNoErrors(figures: Figures): string | null {
  const isKnown = allPoints(figures).some((point) => shareOf(point, "total") !== null);
  return isKnown ? null : "No load tool here reports failed attempts.";
}

export function errorsChart(figures: Figures, options: ChartOptions): ErrorConfig {
  const { theme, size } = options;
  const scope = options.scope ?? figures;
  const bands = bandsOf(scope);
  const shares = allPoints(scope).map((point) => shareOf(point, "total") ?? 0);
  const most = Math.max(0, ...shares);
  const scales: Record<string, object> = { x: xScale(figures, options) };
  // Stacked upwards by the library, so the first band is given last.
  [...bands].reverse().forEach((band) => {
    scales[axisOf(band)] = bandScale(most, theme, size);
  });
  return {
    type: "line",
    data: { datasets: bands.flatMap((band) => datasets(figures, band, options)) },
    options: {
      ...baseOptions(theme, 0),
      scales,
      plugins: { tooltip: tooltip(theme, tooltipText(figures)) },
    },
    plugins: [bandNames(bands, theme, size), hoverPlugin()],
  };
}

function axisOf(band: Band): string {
  return band === "total" ? "y" : `y_${band}`;
}

/** Ticked at both ends and between, however low the band: without its end a height says nothing. */
function bandScale(most: number, theme: ChartTheme, size: Size): object {
  const scale = yScale({ theme, size, kind: "ratio", log: false, least: 0, most });
  const top = niceTop(most || 0.01);
  const tick = scale.ticks.callback as (share: number) => string;
  return {
    ...scale,
    max: top,
    axis: "y",
    position: "left",
    stack: "bands",
    offset: true,
    border: { display: true, color: theme.grid },
    afterBuildTicks: (axis: TickScale) => {
      axis.ticks = [0, top / 2, top].map((value) => ({ value }));
    },
    ticks: {
      ...scale.ticks,
      autoSkip: false,
      callback: (share: number) => (share > 0 && share < top ? "" : tick(share)),
    },
  };
}

/** Written across, in the corner of each band: a turned word is hard to read. */
function bandNames(bands: readonly Band[], theme: ChartTheme, size: Size): Plugin<"line"> {
  return {
    id: "bandNames",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea, scales } = chart;
      ctx.save();
      ctx.font = `600 ${fontSize(size)}px ${theme.font}`;
      ctx.fillStyle = theme.ink;
      ctx.textBaseline = "top";
      for (const band of bands) {
        const scale = scales[axisOf(band)];
        if (scale) ctx.fillText(bandName(band), chartArea.left + 6, scale.top);
      }
      ctx.restore();
    },
  };
}

function datasets(figures: Figures, band: Band, options: ChartOptions): ErrorDataset[] {
  const place = placeOf(figures);
  const lookOf = lineStyles(figures, options);
  return figures.series.map((series) => {
    const look = lookOf(series);
    return {
      ...look,
      band,
      yAxisID: axisOf(band),
      pointRadius: Math.min(look.pointRadius, 3.5),
      pointBackgroundColor: look.borderColor,
      showLine: joinsPoints(figures),
      spanGaps: false,
      data: series.points
        .map((point) => ({ x: place(point.x), at: point.x, y: shareOf(point, band) }))
        .sort((a, b) => a.x - b.x),
    };
  });
}

function tooltipText(figures: Figures): TooltipText {
  return {
    // Zeros of seven classes would bury the failures.
    hasRow: (share) => Number(share) > 0,
    title: ([first]) => (first ? loadPoint((first.raw as ErrorPoint).at, figures.x.label) : ""),
    label: (item) => {
      const { band } = item.dataset as unknown as ErrorDataset;
      return ` ${item.dataset.label}: ${single("ratio", item.parsed.y)} ${bandName(band)}`;
    },
  };
}
