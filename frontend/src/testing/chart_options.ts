// A theme whose colours are their own names, and the options of a chart drawn with it.
import { type ChartTheme, TINTS } from "../charts/style/theme";
import type { SweepOptions } from "../charts/sweep";
import type { View } from "../charts/view";
import { viewOf } from "../charts/views";

export const theme: ChartTheme = {
  ink: "ink",
  muted: "muted",
  grid: "grid",
  surface: "surface",
  context: "context",
  warning: "warning",
  danger: "danger",
  font: "sans-serif",
  series: ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"],
  tints: Object.fromEntries(TINTS.map((tint) => [tint, tint])) as ChartTheme["tints"],
};

export function options(over: Partial<SweepOptions> = {}): SweepOptions {
  return {
    metric: "throughput",
    logX: true,
    logY: false,
    highlighted: new Set(["a", "b"]),
    theme,
    size: "main",
    labelWidth: 0,
    at: 64,
    limit: null,
    ...over,
  };
}

export function viewNamed(id: string): View {
  return viewOf(`view=${id}`);
}
