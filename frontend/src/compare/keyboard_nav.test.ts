// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { viewNamed } from "../testing/chart_options";
import { figures } from "../testing/figures";
import { sample } from "../testing/sample_figures";
import { nextPosition, positionText, seriesStops } from "./keyboard_nav";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("keyboard walk", () => {
  it("goes through points and series and speaks", () => {
    const all = seriesStops(figures(), viewNamed("sweep"), "throughput");
    const first = nextPosition(all, null, "ArrowRight");
    expect(first).toEqual({ series: 0, point: 0 });
    expect(nextPosition(all, { series: 0, point: 2 }, "ArrowRight")).toEqual({
      series: 0,
      point: 2,
    });
    expect(nextPosition(all, { series: 0, point: 2 }, "ArrowDown")).toEqual({
      series: 1,
      point: 1,
    });
    expect(positionText(all, { series: 0, point: 1 })).toContain("unknown, 3 trials");
    expect(positionText(all, { series: 1, point: 1 })).toContain("errors above 1 %");
  });

  it("says of each view what it shows, and passes over series that are not in it", () => {
    const said = (view: string): string =>
      positionText(seriesStops(sample(), viewNamed(view), "throughput"), { series: 2, point: 3 });
    expect(said("nines")).toMatch(/uvicorn.*p99\.9 .* ms/);
    expect(said("tradeoff")).toMatch(/uvicorn.*at 16 connections: .* req\/s, p99 .* ms/);
    expect(said("errors")).toMatch(/uvicorn.*at 16 connections: 0 % all failures/);
    expect(seriesStops(sample(), viewNamed("nines"), "throughput").length).toBe(3);
    expect(seriesStops(figures(), viewNamed("nines"), "throughput")).toEqual([]);
    expect(nextPosition([], null, "ArrowRight")).toBeNull();
  });
});
