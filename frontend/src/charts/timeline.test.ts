import { describe, expect, it } from "vitest";
import type { ChartTheme } from "./style/theme";
import { TINTS } from "./style/theme";
import {
  failuresOf,
  panelsOf,
  rateOf,
  type Second,
  type Timeline,
  timelineChart,
  unitText,
} from "./timeline";

const theme: ChartTheme = {
  ink: "#000",
  muted: "#555",
  grid: "#ddd",
  surface: "#fff",
  context: "#888",
  warning: "#850",
  danger: "#a00",
  font: "sans-serif",
  series: ["#111", "#222"],
  tints: Object.fromEntries(TINTS.map((tint) => [tint, tint])) as ChartTheme["tints"],
};

function second(over: Partial<Second>): Second {
  return {
    start_s: 0,
    length_s: 1,
    completed: 100,
    failed: 0,
    reported_rps: null,
    p50_us: 1_000,
    p99_us: 5_000,
    ...over,
  };
}

function timeline(...seconds: Second[]): Timeline {
  const last = seconds[seconds.length - 1];
  return { trial: "t", length_s: last ? last.start_s + last.length_s : 0, seconds };
}

describe("a trial over time", () => {
  it("counts a second, and a part of one for what it is", () => {
    expect(rateOf(second({ completed: 50, length_s: 0.5 }))).toBe(100);
    expect(failuresOf(second({ failed: 3, length_s: 0.5 }))).toBe(6);
  });

  it("takes the tool's own rate only where there is no count, and invents none", () => {
    expect(rateOf(second({ completed: null, reported_rps: 70 }))).toBe(70);
    expect(rateOf(second({ completed: null }))).toBeNull();
    expect(failuresOf(second({ failed: null }))).toBeNull();
    expect(rateOf(second({ completed: 4, length_s: 0 }))).toBeNull();
  });

  it("draws no panel for what is unknown throughout", () => {
    const bare = second({ failed: null, p50_us: null, p99_us: 5_000 });
    const panels = panelsOf(timeline(bare));
    expect(panels.map((panel) => panel.id)).toEqual(["throughput", "latency"]);
    expect(panels[1]?.lines.map((line) => line.label)).toEqual(["p99"]);
    const none = { completed: null, failed: null, p50_us: null, p99_us: null };
    expect(panelsOf(timeline(second(none)))).toEqual([]);
  });

  it("aligns its panels: the same seconds, the same width of the axis, zero at the bottom", () => {
    const both = timeline(second({}), second({ start_s: 1, completed: null }));
    const configs = panelsOf(both).map((panel) => timelineChart(both, panel, { theme, slot: 1 }));
    const widths = configs.map((config) => {
      const axis = { width: 0 };
      const scale = config.options?.scales?.y as { afterFit: (axis: { width: number }) => void };
      scale.afterFit(axis);
      return axis.width;
    });
    expect(new Set(widths).size).toBe(1);
    for (const config of configs) {
      expect(config.options?.scales?.x).toMatchObject({ min: 0, max: 2 });
      expect(config.options?.scales?.y).toMatchObject({ min: 0 });
      expect(config.data.datasets[0]).toMatchObject({ borderColor: "#222", spanGaps: false });
    }
    expect(configs[0]?.data.datasets[0]?.data).toEqual([
      { x: 0.5, y: 100 },
      { x: 1.5, y: null },
    ]);
  });

  it("names its unit", () => {
    const one = timeline(second({ completed: 20_000 }));
    expect(panelsOf(one).map(unitText)).toEqual(["req/s", "ms", "attempts/s"]);
  });

  it("tells p50 from p99 by a dash", () => {
    const one = timeline(second({}));
    const latency = panelsOf(one).find((panel) => panel.id === "latency");
    expect(latency?.lines.map((line) => line.dash.length > 0)).toEqual([false, true]);
  });
});
