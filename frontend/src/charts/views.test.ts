import { describe, expect, it } from "vitest";
import { options, viewNamed } from "../testing/chart_options";
import { figures } from "../testing/figures";
import { panelled, sample, trend } from "../testing/sample_figures";
import { viewOf, withView } from "./views";

describe("views", () => {
  it("draw every view from one answer, and from an answer of before them", () => {
    const all = ["sweep", "nines", "tradeoff", "errors", "trend"];
    for (const data of [sample(), trend(), panelled(), figures()]) {
      for (const view of all) {
        if (viewNamed(view).empty(data, "throughput") !== null) continue;
        const config = viewNamed(view).build?.(data, { ...options(), limit: 5_000 });
        expect(config?.data.datasets.length).toBeGreaterThan(0);
      }
    }
  });

  it("say why there is nothing to draw", () => {
    expect(viewNamed("nines").empty(figures(), "throughput")).toContain("histogram");
    expect(viewNamed("ratios").empty(figures(), "throughput")).toContain("two or more workloads");
    const unlike = { status: "not_comparable", differing: [], reasons: [] } as const;
    expect(viewNamed("ratios").empty(figures({ outcome: unlike }), "throughput")).toContain(
      "withheld",
    );
    expect(viewNamed("trend").empty(sample(), "throughput")).toContain("These figures are by");
    expect(viewNamed("trend").empty(trend(), "throughput")).toBeNull();
    expect(viewNamed("sweep").empty(figures(), "throughput")).toBeNull();
  });

  it("ask for an axis that a trend can follow", () => {
    expect(withView("at=64&run=1", viewNamed("trend"))).toBe("run=1&view=trend&x=version");
    expect(withView("x=date", viewNamed("trend"))).toBe("view=trend&x=date");
    expect(withView("view=trend&x=version", viewNamed("sweep"))).toBe("");
    expect(withView("connections=8&view=trend&x=date", viewNamed("errors"))).toBe(
      "at=8&view=errors",
    );
    expect(viewOf("view=pie").id).toBe("sweep");
  });

  it("hold the ranked load where a trend takes the axis from it", () => {
    const held = { field: "connections", x: 64 } as const;
    expect(withView("at=64&run=1", viewNamed("trend"), held)).toBe(
      "connections=64&run=1&view=trend&x=version",
    );
    expect(withView("connections=8&connections=64&x=rate", viewNamed("trend"), held)).toBe(
      "connections=64&view=trend&x=version",
    );
    expect(withView("x=date", viewNamed("trend"), held)).toBe("view=trend&x=date");
    expect(withView("at=64", viewNamed("nines"), held)).toBe("at=64&view=nines");
  });
});
