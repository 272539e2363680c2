// The legend's picture of a line: its colour, dash and marker, as drawn in the chart.
import { colourClass, dashOf, markerOf } from "../charts/style/series_style";
import { svg } from "../site/dom";

const MARKER_PATHS = {
  circle: "M14 2.2a3.8 3.8 0 1 0 0 7.6a3.8 3.8 0 1 0 0-7.6z",
  rectRot: "M14 1.4 18.6 6 14 10.6 9.4 6z",
  triangle: "M14 1.6 18.4 9.4 9.6 9.4z",
  rect: "M10.5 2.5h7v7h-7z",
} as const;

export function swatch(slot: number): SVGElement {
  return svg(
    "svg",
    {
      class: `swatch ${colourClass(slot)}`,
      viewBox: "0 0 28 12",
      width: 28,
      height: 12,
      "aria-hidden": "true",
      focusable: "false",
    },
    svg("path", {
      class: "swatch-line",
      d: "M0 6H28",
      "stroke-dasharray": dashOf(slot).join(" ") || null,
    }),
    svg("path", { class: "swatch-mark", d: MARKER_PATHS[markerOf(slot)] }),
  );
}
