import { describe, expect, it } from "vitest";
import type { Figures } from "../api/figures";
import { options, viewNamed } from "../testing/chart_options";
import { figures, point, series } from "../testing/figures";
import { drawnFigures, drawnScene, partText } from "./drawn";
import { chartOptions } from "./scene";
import { seriesSlots } from "./style/series_style";
import { sweepChart } from "./sweep";
import { withView } from "./views";
import { type Asked, zoomCloser, zoomName, zoomOut, zoomTo, zoomWider } from "./zoom";

const LOADS = [1, 2, 4, 8, 16, 32, 64];
const loads = figures({
  x: { field: "connections", label: "Connections", values: LOADS },
  series: ["a", "b"].map((id, slot) =>
    series(
      id,
      slot,
      LOADS.map((x) => point(x, {})),
    ),
  ),
});
const days = ["2026-11-01 08:00:00", "2026-11-02 08:00:00", "2026-11-05 08:00:00"];
const byDay: Figures = {
  ...loads,
  x: { field: "date", label: "Date", kind: "category", values: days },
  series: [
    series(
      "a",
      0,
      days.map((x) => ({ ...point(1, {}), x })),
    ),
  ],
};

function asked(data: Figures, query: string, isLive = true): Asked {
  return { figures: data, query, isLive };
}

function xs(data: Figures): readonly unknown[] {
  return data.series.flatMap((line) => line.points.map(({ x }) => x));
}

describe("a zoom", () => {
  it("begins and ends at places that were measured, whatever the pointer touched", () => {
    const zoomed = zoomTo(asked(loads, "metric=p99"), [3, 20]);
    expect(zoomed).toBe("metric=p99&zoom=16&zoom=4");
    const drawn = drawnFigures(loads, zoomed ?? "");
    expect(drawn.x.values).toEqual([4, 8, 16]);
    expect(new Set(xs(drawn))).toEqual(new Set([4, 8, 16]));
    expect(zoomName(asked(loads, zoomed ?? ""))).toBe("4 to 16 connections");
    expect(zoomName(asked(loads, ""))).toBe("");
  });

  it("of everything or of nothing is none", () => {
    expect(zoomTo(asked(loads, ""), [0, 100])).toBeNull();
    expect(drawnFigures(loads, "zoom=9&zoom=15")).toBe(loads);
    expect(drawnFigures(loads, "zoom=8")).toBe(loads);
    expect(drawnFigures(loads, "zoom=nginx")).toBe(loads);
  });

  it("of less than two places takes those around", () => {
    expect(zoomTo(asked(loads, ""), [9, 15])).toBe("zoom=16&zoom=8");
    expect(zoomTo(asked(loads, ""), [7, 15])).toBe("zoom=16&zoom=4");
    expect(zoomTo(asked(loads, ""), [70, 90])).toBeNull();
  });

  it("fits the y axis, keeps the kind of the x axis, and leaves zero out", () => {
    const axes = (
      query: string,
    ): { x: { type: string; min: number }; y: { suggestedMax: number } } => {
      const scene = drawnScene({ figures: loads, query, metric: "p99", highlighted: new Set() });
      const { theme, size, labelWidth } = options();
      const config = sweepChart(scene.figures, chartOptions(scene, { theme, size, labelWidth }));
      return config.options?.scales as never;
    };
    expect(axes("zoom=4&zoom=16").x.type).toBe("logarithmic");
    expect(axes("zoom=4&zoom=16").y.suggestedMax).toBeLessThan(axes("").y.suggestedMax / 3);
    expect(axes("logx=0&zoom=8&zoom=16").x.min).toBeGreaterThan(7);
    expect(axes("logx=0").x.min).toBe(0);
  });

  it("over days is the filter of dates, which the service answers", () => {
    expect(zoomTo(asked(byDay, "x=date&zoom=1"), [0.5, 2.4])).toBe(
      "since=2026-11-02&until=2026-11-05&x=date",
    );
    const hours = ["06", "07", "08"].map((hour) => `2026-11-02 ${hour}:00:00`);
    const inDay = { ...byDay, x: { ...byDay.x, values: hours } };
    expect(zoomTo(asked(inDay, "x=date"), [0, 1.2])).toContain("zoom=2026-11-02+07");
    expect(zoomOut(asked(byDay, "since=2026-11-02&until=2026-11-05&x=date"))).toBe("x=date");
    expect(zoomTo(asked(byDay, "x=date", false), [0.5, 2.4])).toBe(
      "x=date&zoom=2026-11-02+08%3A00%3A00&zoom=2026-11-05+08%3A00%3A00",
    );
    expect(zoomOut(asked(loads, "since=2026-11-02"))).toBeNull();
  });

  it("is of the axis that it was made on", () => {
    const query = "zoom=4&zoom=8";
    expect(withView(query, viewNamed("errors"))).toBe("view=errors&zoom=4&zoom=8");
    expect(withView(query, viewNamed("nines"))).toBe("view=nines");
    expect(withView(query, viewNamed("trend"))).toBe("view=trend&x=version");
  });

  it("by keys takes half of the places around the point, and gives them back", () => {
    const closer = zoomCloser(asked(loads, ""), 8);
    expect(closer).toBe("zoom=16&zoom=2");
    expect(zoomCloser(asked(loads, closer ?? ""), 16)).toBe("zoom=16&zoom=8");
    expect(zoomCloser(asked(loads, "zoom=8&zoom=16"), 16)).toBeNull();
    expect(zoomWider(asked(loads, "zoom=8&zoom=16"))).toBe("zoom=32&zoom=4");
    expect(zoomWider(asked(loads, closer ?? ""))).toBe("");
    expect(zoomWider(asked(loads, ""))).toBeNull();
  });

  it("of percentiles and of throughput is in their own numbers", () => {
    const curve = {
      series: "a",
      count: 9,
      points: [
        [50, 1],
        [90, 2],
        [99, 3],
        [99.9, 4],
      ],
    } as const;
    const curves = { ...loads, curves: { at: 8, series: [curve] } };
    expect(zoomTo(asked(curves, "view=nines"), [0.9, 2.1])).toBe("view=nines&zoom=90&zoom=99");
    const drawn = drawnFigures(curves, "view=nines&zoom=90&zoom=99");
    expect(drawn.curves?.series[0]?.points.map(([percent]) => percent)).toEqual([90, 99]);
    const tradeoff = zoomTo(asked(loads, "view=tradeoff"), [3_900, 9_000]);
    expect(tradeoff).toBe("view=tradeoff&zoom=4000&zoom=8000");
    expect(new Set(xs(drawnFigures(loads, tradeoff ?? "")))).toEqual(new Set([4, 8]));
  });
});

describe("a hidden series", () => {
  it("leaves the charts, and its colour to itself", () => {
    const whole = figures();
    const drawn = drawnFigures(whole, "hidden=a");
    expect(drawn.series.map(({ id }) => id)).toEqual(["b"]);
    expect(seriesSlots(drawn).get("b")).toBe(seriesSlots(whole).get("b"));
    expect([...seriesSlots(drawn).keys()]).toEqual(["b"]);
  });

  it("is drawn after all where a link hides every one", () => {
    expect(drawnFigures(figures(), "hidden=a&hidden=b").series).toHaveLength(2);
  });

  it("is counted where a picture says which part it shows", () => {
    expect(partText(loads, "hidden=a&zoom=2&zoom=8")).toBe("2 to 8 connections, 1 series hidden");
    expect(partText(loads, "hidden=a&hidden=b")).toBe("");
  });

  it("is the same figures each time, so that nothing is computed twice", () => {
    const whole = figures();
    expect(drawnFigures(whole, "hidden=a")).toBe(drawnFigures(whole, "hidden=a&metric=p99"));
    expect(drawnFigures(whole, "")).toBe(whole);
  });
});
