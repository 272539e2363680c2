// A point of a chart with its trials, its interval, and whether too many attempts failed.
import type { ChartDataset } from "chart.js";
import type { X } from "../../api/figures";
import type { DrawnSeries } from "./line_style";

export interface SweepPoint {
  /** Its place on the axis; `at` is the x it stands for. */
  readonly x: number;
  readonly at: X;
  readonly y: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly each: readonly number[];
  /** The smallest step that the load tool prints. */
  readonly step: number | null;
  readonly overload: boolean;
  readonly failing: boolean;
  readonly trials: number;
}

export interface SweepDataset extends ChartDataset<"line", SweepPoint[]>, DrawnSeries {}
