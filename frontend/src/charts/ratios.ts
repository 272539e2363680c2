// figures -> the table of ratios, servers by workloads: what each cell says and how strongly it
// is tinted. Pure; plain HTML draws it.
import { type Figures, metricOf, type Ratio } from "../api/figures";
import { interval, PLAIN, times } from "../text/format";

/** Blue is better than the baseline, orange worse; "same" could not be told apart. */
export type Tint =
  | "better-1"
  | "better-2"
  | "better-3"
  | "worse-1"
  | "worse-2"
  | "worse-3"
  | "same"
  | "none";

export interface RatioCell {
  readonly text: string;
  readonly range: string;
  readonly tint: Tint;
  readonly said: string;
  readonly value: number | null;
}

export interface RatioView {
  readonly baseline: string;
  readonly metric: string;
  readonly better: "higher" | "lower";
  readonly columns: readonly string[];
  readonly rows: readonly { readonly label: string; readonly cells: readonly RatioCell[] }[];
}

/** Steps on the log scale, centred at ×1: up to ×1.25, up to ×2, beyond. */
const STEPS = [Math.log(1.25), Math.log(2)] as const;

const EMPTY: RatioCell = { text: "–", range: "", tint: "none", said: "not measured", value: null };

export function ratioView(figures: Figures): RatioView | null {
  const { ratios } = figures;
  if (!ratios) return null;
  const metric = metricOf(figures, figures.metric);
  return {
    baseline: ratios.baseline.label,
    metric: metric.label,
    better: metric.better,
    columns: ratios.columns,
    rows: ratios.rows.map((label, row) => ({
      label,
      cells: ratios.columns.map((_, column) =>
        ratioCell(ratios.cells[row]?.[column] ?? null, metric.better),
      ),
    })),
  };
}

function ratioCell(ratio: Ratio | null, better: "higher" | "lower"): RatioCell {
  if (ratio?.value === null || ratio?.value === undefined) {
    return ratio?.why ? { ...EMPTY, said: ratio.why } : EMPTY;
  }
  return {
    text: times(ratio.value, ratio.low, ratio.high),
    range: interval(ratio.low, ratio.high, PLAIN),
    tint: tintOf(ratio, better),
    said: ratio.why ?? ratio.verdict,
    value: ratio.value,
  };
}

export function tintOf(ratio: Ratio, better: "higher" | "lower"): Tint {
  if (ratio.verdict === "unchanged" || ratio.verdict === "inconclusive") return "same";
  if (ratio.value === null || ratio.value <= 0) return "none";
  const size = Math.abs(Math.log(ratio.value));
  const step = size <= STEPS[0] ? 1 : size <= STEPS[1] ? 2 : 3;
  const up = ratio.value > 1;
  return `${up === (better === "higher") ? "better" : "worse"}-${step}`;
}
