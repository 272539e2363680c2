// figures -> the rows of the ranking: the place of each dot and interval, and the texts.
// Plain HTML and SVG draw it, so every row is a real button.
import {
  type Figures,
  type Measure,
  measureOf,
  metricOf,
  panelsOrWhole,
  type Ranking,
  type RankRow,
  shownSize,
  type Verdict,
  type X,
} from "../api/figures";
import { kindOf, roundNumber, times, timesRange, type Unit, unitFor } from "../text/format";
import { heldReach } from "./held_ends";
import { valueText } from "./unlike";

export interface RankingRow {
  readonly series: string;
  readonly label: string;
  readonly tier: string;
  readonly value: string;
  /** Of the value: that of the ranking, or a smaller one for a rate below one of it. */
  readonly unit: Unit;
  readonly exact: number | null;
  /** Shares of the axis, 0 to 1; null where nothing is known. */
  readonly dot: number | null;
  readonly from: number | null;
  readonly to: number | null;
  /** Whether the interval ends beyond the axis. */
  readonly isCut: boolean;
  readonly baseline: boolean;
  readonly ratio: string;
  readonly ratioRange: string;
  readonly verdict: Verdict | null;
  readonly why: string;
  /** Beyond noise, and beyond the workspace's relevance limit; null where unknown. */
  readonly significant: boolean | null;
  readonly relevant: boolean | null;
  /** Of a difference that was not found: from which share on it would have been. */
  readonly findsFrom: number | null;
  /** "p99 71 ms > 50 ms": why it does not keep the limit; empty if it does, or without one. */
  readonly overLimit: string;
  /** That its p99 may be on the other side of the limit; empty where that is certain. */
  readonly limitDoubt: string;
}

export interface RankingView {
  readonly x: X;
  readonly metric: string;
  readonly better: "higher" | "lower";
  readonly unit: Unit;
  readonly ticks: readonly { readonly share: number; readonly text: string }[];
  readonly rows: readonly RankingRow[];
}

/** The ranking of a panel of `whole`: all panels share one axis, as their charts do. */
export function rankingView(figures: Figures, whole: Figures = figures): RankingView | null {
  const ranking = figures.ranking;
  if (!ranking) return null;
  const metric = metricOf(figures, ranking.metric);
  const listed = rowsOf(ranking);
  const measures = new Map(listed.map((row) => [row.series, measured(figures, row)]));
  const allMeasures = panelsOrWhole(whole).flatMap((panel) =>
    (panel.ranking ? rowsOf(panel.ranking) : []).map((row) => measured(panel, row)),
  );
  const kind = kindOf(metric.unit);
  const unit = unitFor(kind, allMeasures.map(shownSize));
  // Round numbers of bytes are not round numbers of MiB.
  const top = niceTop((axisEnd(allMeasures) || 1) / unit.factor) * unit.factor;
  return {
    x: ranking.x,
    metric: metric.label,
    better: metric.better,
    unit,
    ticks: [0, 0.5, 1].map((share) => ({ share, text: axisText(share * top, unit) })),
    rows: listed.map((row) =>
      rankingRow(row, measures.get(row.series) ?? row, unit, top, row.series === ranking.baseline),
    ),
  };
}

/** The largest value, or the largest end of an interval that does not squeeze all values. */
function axisEnd(measures: readonly Measure[]): number {
  const largest = Math.max(0, ...measures.map(({ value }) => value ?? 0));
  // Below the step of the load tool every value is 0: nothing could be squeezed.
  if (largest === 0) return Math.max(0, ...measures.map(({ high }) => high ?? 0));
  return largest * heldReach(measures.map(({ high }) => [(high ?? 0) / largest]));
}

/** All rows, also those of series that are too many to be compared. */
function rowsOf({ rows, beyond = [] }: Ranking): readonly RankRow[] {
  return [...rows, ...beyond];
}

/** The figure of the load point where the series is on the page: dot, line and table agree. */
function measured(figures: Figures, row: RankRow): Measure {
  const ranking = figures.ranking;
  const series = figures.series.find((line) => line.id === row.series);
  const point = series?.points.find((candidate) => candidate.x === ranking?.x);
  return (point && ranking && measureOf(point, ranking.metric)) ?? row;
}

function rankingRow(
  row: RankRow,
  measure: Measure,
  unit: Unit,
  top: number,
  baseline: boolean,
): RankingRow {
  const share = (value: number | null): number | null =>
    value === null ? null : Math.min(Math.max(value / top, 0), 1);
  return {
    series: row.series,
    label: row.label,
    tier: row.tier ?? "–",
    value: valueText(measure, unit),
    unit,
    exact: measure.value,
    dot: share(measure.value),
    from: share(measure.low),
    to: share(measure.high),
    isCut: (measure.high ?? 0) > top,
    baseline,
    ...(baseline ? BASELINE : ratioTexts(row)),
    significant: row.significant ?? null,
    relevant: row.relevant ?? null,
    findsFrom: row.ratio?.finds_from ?? null,
    overLimit: row.over_limit ?? "",
    limitDoubt: row.limit_doubt ?? "",
  };
}

type RatioTexts = Pick<RankingRow, "ratio" | "ratioRange" | "verdict" | "why">;

const BASELINE: RatioTexts = { ratio: "1×", ratioRange: "", verdict: null, why: "the baseline" };

function ratioTexts({ ratio, why }: RankRow): RatioTexts {
  return {
    ratio: ratio ? times(ratio.value, ratio.low, ratio.high) : "no ratio",
    ratioRange: timesRange(ratio?.low, ratio?.high),
    verdict: ratio?.verdict ?? null,
    why: ratio?.why ?? why ?? "",
  };
}

/** The next 1, 2, 2.5, 4, 5 or 8 times a power of ten, so that half of it reads well too. */
export function niceTop(value: number): number {
  const decade = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
  return (steps.find((step) => value <= step * decade * 1.0001) ?? 10) * decade;
}

function axisText(value: number, unit: Unit): string {
  return value === 0 ? "0" : `${roundNumber(value / unit.factor, 3)}${unit.suffix}`;
}
