// The seconds of one trial -> Chart.js configurations of aligned panels. Pure: no DOM, no fetch.
import type { ChartConfiguration, ChartDataset, TooltipItem } from "chart.js";
import { grouped, inUnit, type Kind, roundNumber, type Unit, unitFor } from "../text/format";
import type { ChartTheme } from "./style/theme";

export interface Second {
  readonly start_s: number;
  readonly length_s: number;
  readonly completed: number | null;
  readonly failed: number | null;
  readonly reported_rps: number | null;
  readonly p50_us: number | null;
  readonly p99_us: number | null;
}

export interface Timeline {
  readonly trial: string;
  readonly length_s: number;
  readonly seconds: readonly Second[];
}

export interface Line {
  readonly label: string;
  readonly values: readonly (number | null)[];
  readonly dash: readonly number[];
}

export interface Panel {
  readonly id: "throughput" | "latency" | "errors";
  readonly title: string;
  readonly kind: Kind;
  /** What is counted a second, where the panel shows a rate. */
  readonly noun: "req" | "attempts" | null;
  readonly better: "higher" | "lower";
  readonly lines: readonly Line[];
}

type Spot = { x: number; y: number | null };
export type TimelineConfig = ChartConfiguration<"line", Spot[]>;

/** All panels share this width of the y axis, so that one second stands below the other. */
const AXIS_WIDTH = 72;

/** Responses a second of a stretch; the tool's own rate where it gives no count. */
export function rateOf(second: Second): number | null {
  if (second.completed !== null && second.length_s > 0) return second.completed / second.length_s;
  return second.reported_rps;
}

export function failuresOf(second: Second): number | null {
  return second.failed !== null && second.length_s > 0 ? second.failed / second.length_s : null;
}

/** The panels that have something to draw; a quantity that is unknown throughout has none. */
export function panelsOf(timeline: Timeline): readonly Panel[] {
  const of = (read: (second: Second) => number | null): (number | null)[] =>
    timeline.seconds.map(read);
  const panels: readonly Panel[] = [
    {
      id: "throughput",
      title: "Throughput",
      kind: "rate",
      noun: "req",
      better: "higher",
      lines: [{ label: "throughput", values: of(rateOf), dash: [] }],
    },
    {
      id: "latency",
      title: "Latency",
      kind: "time",
      noun: null,
      better: "lower",
      lines: [
        { label: "p50", values: of((second) => second.p50_us), dash: [] },
        { label: "p99", values: of((second) => second.p99_us), dash: [6, 3] },
      ],
    },
    {
      id: "errors",
      title: "Failed attempts",
      kind: "rate",
      noun: "attempts",
      better: "lower",
      lines: [{ label: "failed", values: of(failuresOf), dash: [] }],
    },
  ];
  return panels
    .map((panel) => ({
      ...panel,
      lines: panel.lines.filter((line) => line.values.some((value) => value !== null)),
    }))
    .filter((panel) => panel.lines.length > 0);
}

export function unitOf(panel: Panel): Unit {
  return unitFor(
    panel.kind,
    panel.lines.flatMap((line) => line.values),
  );
}

/** The unit of a panel's numbers: "req/s", "ms". */
export function unitText(panel: Panel): string {
  const unit = unitOf(panel);
  return panel.noun ? `${unit.suffix} ${panel.noun}/s`.trim() : unit.header;
}

export interface TimelineOptions {
  readonly theme: ChartTheme;
  /** The colour slot of the trial's server. */
  readonly slot: number;
}

export function timelineChart(
  timeline: Timeline,
  panel: Panel,
  options: TimelineOptions,
): TimelineConfig {
  const unit = unitOf(panel);
  return {
    type: "line",
    data: { datasets: panel.lines.map((line) => dataset(timeline, line, options)) },
    options: {
      responsive: true,
      maintainAspectRatio: false,
      animation: false,
      parsing: false,
      normalized: true,
      interaction: { mode: "index", intersect: false },
      layout: { padding: { top: 6, right: 12 } },
      font: { family: options.theme.font, size: 12 },
      scales: { x: xScale(timeline, options.theme), y: yScale(panel, unit, options.theme) },
      plugins: { tooltip: tooltip(unit, panel, options.theme) },
    },
  };
}

/** A stretch stands at its middle: its figures are about all of it, not about its start. */
function dataset(
  timeline: Timeline,
  line: Line,
  options: TimelineOptions,
): ChartDataset<"line", Spot[]> {
  const { theme, slot } = options;
  const colour = theme.series[slot % theme.series.length] ?? theme.ink;
  return {
    label: line.label,
    data: timeline.seconds.map((second, index) => ({
      x: second.start_s + second.length_s / 2,
      y: line.values[index] ?? null,
    })),
    tension: 0,
    spanGaps: false,
    borderColor: colour,
    borderWidth: 1.75,
    borderDash: [...line.dash],
    pointRadius: timeline.seconds.length > 90 ? 0 : 2,
    pointHoverRadius: 4,
    pointBackgroundColor: colour,
    pointBorderColor: colour,
  };
}

type Scale = NonNullable<NonNullable<TimelineConfig["options"]>["scales"]>[string];

function xScale(timeline: Timeline, theme: ChartTheme): Scale {
  return {
    type: "linear",
    min: 0,
    max: timeline.length_s,
    grid: { color: theme.grid, drawTicks: false },
    border: { color: theme.grid },
    ticks: {
      color: theme.muted,
      padding: 6,
      maxRotation: 0,
      font: { size: 11 },
      callback: (value: string | number) => `${grouped(Number(value))} s`,
    },
  } as Scale;
}

function yScale(panel: Panel, unit: Unit, theme: ChartTheme): Scale {
  const most = Math.max(
    0,
    ...panel.lines.flatMap((line) => line.values.filter((value) => value !== null)),
  );
  return {
    type: "linear",
    min: 0,
    ...(most === 0 ? { max: 1 } : { suggestedMax: most * 1.05 }),
    grid: { color: theme.grid, drawTicks: false },
    border: { display: false },
    afterFit: (axis: { width: number }) => {
      axis.width = AXIS_WIDTH;
    },
    ticks: {
      color: theme.muted,
      padding: 8,
      font: { size: 11 },
      maxTicksLimit: 4,
      callback: (value: string | number) =>
        Number(value) === 0 ? "0" : `${roundNumber(Number(value) / unit.factor, 6)}${unit.suffix}`,
    },
  } as Scale;
}

type TooltipOptions = NonNullable<
  NonNullable<NonNullable<TimelineConfig["options"]>["plugins"]>["tooltip"]
>;

function tooltip(unit: Unit, panel: Panel, theme: ChartTheme): TooltipOptions {
  return {
    backgroundColor: theme.surface,
    borderColor: theme.grid,
    borderWidth: 1,
    titleColor: theme.ink,
    bodyColor: theme.ink,
    cornerRadius: 6,
    padding: 10,
    displayColors: false,
    callbacks: {
      title: (items) => (items[0] ? `at ${Number(items[0].parsed.x).toFixed(1)} s` : ""),
      label: (item: TooltipItem<"line">) =>
        `${item.dataset.label}: ${inUnit(item.parsed.y, unit)}${unit.suffix}${panel.noun ? ` ${panel.noun}/s` : ""}`,
    },
  };
}
