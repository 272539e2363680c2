// figures -> the table of ratios, servers by workloads: the text and the tint of each cell. Pure;
// plain HTML draws it.
import { type Figures, metricOf, type Ratio, type Ratios } from "../api/figures";
import { loadPoint, plural, short, times, timesRange } from "../text/format";
import type { Shade } from "./style/theme";

export type Tint = Shade | "none";

export interface RatioCell {
  readonly text: string;
  readonly range: string;
  readonly tint: Tint;
  readonly note: string;
  readonly value: number | null;
}

export interface RatioColumn {
  readonly label: string;
  /**
   * The place of the comparison, where workloads are compared at different places: "at 64
   * connections".
   */
  readonly at: string;
}

export interface RatioView {
  readonly baseline: string;
  readonly metric: string;
  readonly better: "higher" | "lower";
  /** One for each workload; the geometric mean of them is the last, where there is one. */
  readonly columns: readonly RatioColumn[];
  /** Over which workloads the mean is, or why there is none. */
  readonly means: string;
  readonly rows: readonly { readonly label: string; readonly cells: readonly RatioCell[] }[];
  /** Why ratios are withheld, and where: one sentence for each reason. */
  readonly withheld: readonly string[];
}

/** Why there is no table of ratios; null where there is one. */
export function whyNoRatios({ ratios, outcome }: Figures): string | null {
  if (ratios) return null;
  return outcome.status === "not_comparable" && !outcome.overridden
    ? "Ratios are withheld: these series were not measured under the same conditions."
    : "A table of ratios needs two or more workloads and a baseline that was measured on them.";
}

/** Steps on the log scale, centred at 1×: up to 1.25×, up to 2×, beyond. */
const STEPS = [Math.log(1.25), Math.log(2)] as const;

const EMPTY: RatioCell = { text: "–", range: "", tint: "none", note: "not measured", value: null };

export function ratioView(figures: Figures): RatioView | null {
  const { ratios } = figures;
  if (!ratios) return null;
  const metric = metricOf(figures, figures.metric);
  const cell = (ratio: Ratio | null | undefined): RatioCell =>
    ratioCell(ratio ?? null, metric.better);
  const means = ratios.means?.some((mean) => mean !== null) ? ratios.means : null;
  return {
    baseline: ratios.baseline.label,
    metric: metric.label,
    better: metric.better,
    columns: [...columns(figures), ...(means ? [{ label: "Geometric mean", at: "" }] : [])],
    means: ratios.means_text ?? "",
    withheld: withheldIn(ratios),
    rows: ratios.rows.map((label, row) => ({
      label,
      cells: [
        ...ratios.columns.map((_, column) => cell(ratios.cells[row]?.[column])),
        ...(means ? [cell(means[row])] : []),
      ],
    })),
  };
}

function columns(figures: Figures): RatioColumn[] {
  const { columns: labels = [], loads = [] } = figures.ratios ?? {};
  const apart = new Set(loads).size > 1;
  return labels.map((label, i) => {
    const load = loads[i];
    return { label, at: apart && load !== undefined ? placeText(figures, load) : "" };
  });
}

function placeText(figures: Figures, load: number | string): string {
  return `at ${loadPoint(load, figures.x.label)}`;
}

/** " at 64 connections", where all workloads are compared at one place. */
export function sharedPlace(figures: Figures): string {
  const loads = new Set(figures.ratios?.loads);
  const [load] = loads;
  return loads.size === 1 && load !== undefined ? ` ${placeText(figures, load)}` : "";
}

function ratioCell(ratio: Ratio | null, better: "higher" | "lower"): RatioCell {
  if (ratio?.value === null || ratio?.value === undefined) {
    return ratio?.why ? { ...EMPTY, text: "withheld", note: ratio.why } : EMPTY;
  }
  return {
    text: times(ratio.value, ratio.low, ratio.high),
    range: timesRange(ratio.low, ratio.high),
    tint: tintOf(ratio, better),
    note: ratio.why ?? ratio.verdict,
    value: ratio.value,
  };
}

const MOST_REASONS = 4;

/** "static 64 KiB withheld: The baseline was not measured here.", the widest reason first. */
function withheldIn({ columns, rows, cells }: Ratios): readonly string[] {
  const places = new Map<string, { row: string; column: string }[]>();
  for (const [i, column] of columns.entries()) {
    for (const [j, row] of rows.entries()) {
      const cell = cells[j]?.[i];
      if (cell?.value !== null || !cell.why) continue;
      places.set(cell.why, [...(places.get(cell.why) ?? []), { row, column }]);
    }
  }
  const reasons = [...places].sort(([, a], [, b]) => b.length - a.length);
  const more = reasons.length - MOST_REASONS;
  return [
    ...reasons
      .slice(0, MOST_REASONS)
      .map(([why, places]) => `${placesText(places)} withheld: ${why}`),
    ...(more > 0 ? [`${plural(more, "more reason")} in the table's cells`] : []),
  ];
}

/** The columns; of a single cell also its row. */
function placesText(places: readonly { row: string; column: string }[]): string {
  const [first] = places;
  if (places.length === 1 && first) return `${short(first.row)} on ${short(first.column)}`;
  const columns = [...new Set(places.map(({ column }) => short(column)))];
  return `${plural(places.length, "ratio")} on ${columns.join(", ")}`;
}

export function tintOf(ratio: Ratio, better: "higher" | "lower"): Tint {
  if (ratio.verdict === "unchanged" || ratio.verdict === "inconclusive") return "same";
  if (ratio.value === null || ratio.value <= 0) return "none";
  const size = Math.abs(Math.log(ratio.value));
  const step =
    ratio.verdict === "size_uncertain" || size <= STEPS[0] ? 1 : size <= STEPS[1] ? 2 : 3;
  const up = ratio.value > 1;
  return `${up === (better === "higher") ? "better" : "worse"}-${step}`;
}
