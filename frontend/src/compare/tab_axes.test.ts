import { describe, expect, it } from "vitest";
import { viewNamed } from "../testing/chart_options";
import { TabAxes } from "./tab_axes";

const held = { field: "connections", x: 64 } as const;

describe("tabs", () => {
  it("come back from a trend to the axis and the filter of before", () => {
    const tabs = new TabAxes();
    const loads = "at=64&connections=64&connections=8&logx=0&server=a";
    const trend = tabs.open(loads, viewNamed("trend"), held);
    expect(trend).toBe("connections=64&server=a&view=trend&x=version");
    expect(tabs.open(trend, viewNamed("sweep"), null)).toBe(loads);
    expect(tabs.open(trend, viewNamed("nines"), null)).toBe(
      "at=64&connections=64&connections=8&logx=0&server=a&view=nines",
    );
  });

  it("keep the axis of the trend too, and filters set meanwhile", () => {
    const tabs = new TabAxes();
    const loads = tabs.open("view=trend&x=date&connections=256", viewNamed("errors"), null);
    expect(loads).toBe("at=256&view=errors");
    expect(tabs.open(`${loads}&server=a`, viewNamed("trend"), held)).toBe(
      "connections=256&server=a&view=trend&x=date",
    );
  });

  it("share one axis where none needs its own", () => {
    expect(new TabAxes().open("at=8&x=rate", viewNamed("nines"), held)).toBe(
      "at=8&view=nines&x=rate",
    );
  });
});
