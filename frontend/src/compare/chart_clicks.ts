// Clicks on a chart: on a point, and beside the points.
import type { Chart as AnyChart } from "chart.js";
import type { X } from "../api/figures";

/** So long a second click may follow that makes both one double click. */
const DOUBLE_CLICK_MS = 300;

export interface ClickActions {
  /** Opens the trials of a point; null where the reader may not see them. */
  readonly openPoint: ((series: string, x: X) => void) | null;
  /** Chooses the place that is ranked; null where it cannot be chosen. */
  readonly choosePlace: ((x: X) => void) | null;
  /** Whether a double click means something, which a first click must not spoil. */
  readonly awaitsDoubleClick: () => boolean;
}

export function bindClicks(chart: AnyChart, actions: ClickActions): void {
  const { canvas } = chart;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  canvas.addEventListener("dblclick", () => clearTimeout(waiting));
  canvas.addEventListener("click", (event) => {
    clearTimeout(waiting);
    const act = actionAt(chart, event, actions);
    if (!act || event.detail > 1) return;
    if (actions.awaitsDoubleClick()) waiting = setTimeout(act, DOUBLE_CLICK_MS);
    else act();
  });
}

type Act = () => void;

function actionAt(chart: AnyChart, event: Event, actions: ClickActions): Act | null {
  const { openPoint, choosePlace } = actions;
  const point = nearest(chart, event, { intersect: true });
  if (point && openPoint) return () => openPoint(point.series, point.at);
  const place = nearest(chart, event, { axis: "x", intersect: false });
  return place && choosePlace ? () => choosePlace(place.at) : null;
}

type Reach = { readonly axis?: "x"; readonly intersect: boolean };

/** The point under or near the pointer; null on a chart whose points are no load points. */
function nearest(
  chart: AnyChart,
  event: Event,
  reach: Reach,
): { readonly series: string; readonly at: X } | null {
  const [element] = chart.getElementsAtEventForMode(event, "nearest", reach, false);
  const dataset = element && chart.data.datasets[element.datasetIndex];
  const at = (dataset?.data[element?.index ?? 0] as { at?: X } | undefined)?.at;
  const series = (dataset as { seriesId?: string } | undefined)?.seriesId;
  return at === undefined || series === undefined ? null : { series, at };
}
