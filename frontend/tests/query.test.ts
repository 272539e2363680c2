import { describe, expect, it } from "vitest";
import * as query from "../src/state/query";

describe("canonical", () => {
  it("sorts keys and values and drops defaults, empties and repeats", () => {
    const asked = "server=b&metric=throughput&run=2&server=a&logy=0&x=connections&run=2&host=";
    expect(query.canonical(asked)).toBe("run=2&server=a&server=b");
  });

  it("is stable and keeps an explicit log x, whose default depends on the data", () => {
    const once = query.canonical("logx=0&metric=p99&at=8");
    expect(once).toBe("at=8&logx=0&metric=p99");
    expect(query.canonical(once)).toBe(once);
  });
});

describe("changes", () => {
  it("set, clear and narrow", () => {
    expect(query.withValue("run=1", "metric", "p99")).toBe("metric=p99&run=1");
    expect(query.withValue("metric=p99&run=1", "metric", "throughput")).toBe("run=1");
    expect(query.withValue("at=8", "at", null)).toBe("");
    expect(query.withFilter("server=b", "server", "a")).toBe("server=a&server=b");
    expect(query.withoutFilter("server=a&server=b&run=a", "server", "a")).toBe("run=a&server=b");
  });
});

describe("axes", () => {
  it("go logarithmic once load points span a factor of sixteen, unless the link says", () => {
    expect(query.logX("", [1, 8, 64])).toBe(true);
    expect(query.logX("logx=0", [1, 8, 64])).toBe(false);
    expect(query.logX("", [10, 20, 40])).toBe(false);
    expect(query.logX("logx=1", [10, 20])).toBe(true);
    expect(query.logX("", [0, 64])).toBe(false);
    expect(query.logX("", [8])).toBe(false);
  });
});

describe("emphasis", () => {
  it("goes through the fragment and back", () => {
    expect(query.emphasisFrom("")).toBeNull();
    const hash = query.emphasisHash(new Set(["b", "a"]));
    expect(hash).toBe("#show=a.b");
    expect([...(query.emphasisFrom(hash) ?? [])]).toEqual(["a", "b"]);
    expect(query.emphasisFrom("#show=")?.size).toBe(0);
  });
});
