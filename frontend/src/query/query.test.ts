import { describe, expect, it } from "vitest";
import * as query from "./query";

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

describe("canonical spelling", () => {
  it("leaves the defaults of every view out", () => {
    expect(query.canonical("override=0&view=sweep&override=0&metric=throughput")).toBe("");
    expect(query.canonical("override=1&view=nines")).toBe("override=1&view=nines");
  });

  it("sorts by code point and encodes as the service does", () => {
    const asked = new URLSearchParams([
      ["server", "\u{1F600}"],
      ["server", "\uFF00"],
      ["configuration", "a=b c~*"],
    ]);
    expect(query.canonical(asked)).toBe(
      "configuration=a%3Db+c%7E*&server=%EF%BC%80&server=%F0%9F%98%80",
    );
  });
});

describe("a change of the drawing", () => {
  it("know which choices need no new figures", () => {
    expect(query.sameFigures("run=1", "logy=1&run=1")).toBe(true);
    expect(query.sameFigures("run=1", "hidden=a&run=1&zoom=8&zoom=64")).toBe(true);
    expect(query.sameFigures("run=1", "metric=p99&run=1")).toBe(false);
  });

  it("forget a place on the axis when the axis changes", () => {
    expect(query.withAxis("at=64&logx=1&metric=p99&zoom=8", "host")).toBe("metric=p99&x=host");
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
    expect(query.logX("logx=1", ["one", "two"])).toBe(false);
  });
});

describe("emphasis", () => {
  it("goes through the fragment and back", () => {
    expect(query.highlightedFrom("")).toBeNull();
    const hash = query.highlightHash(new Set(["b", "a"]));
    expect(hash).toBe("#show=a.b");
    expect([...(query.highlightedFrom(hash) ?? [])]).toEqual(["a", "b"]);
    expect(query.highlightedFrom("#show=")?.size).toBe(0);
  });
});

describe("permalink", () => {
  const at = { origin: "https://bench.example", pathname: "/w/lab/compare", hash: "" };

  it("is the canonical question that was answered, drawn as it is now", () => {
    const answered = "server=nginx&view=nines&workspace=lab";
    expect(query.permalink(at, answered, "logy=1&server=NGINX&view=trend", false)).toBe(
      "https://bench.example/w/lab/compare?logy=1&server=nginx&view=trend",
    );
    expect(query.permalink({ ...at, hash: "#show=b.a" }, "", "", false)).toBe(
      "https://bench.example/w/lab/compare#show=a.b",
    );
  });

  it("needs no question where the figures are frozen", () => {
    const frozen = { ...at, pathname: "/s/1" };
    const answered = "metric=p99&run=1";
    expect(query.permalink(frozen, answered, "metric=p99", true)).toBe("https://bench.example/s/1");
    expect(query.permalink(frozen, answered, "logy=1&metric=p99", true)).toBe(
      "https://bench.example/s/1?logy=1",
    );
  });

  it("brings back any drawing of frozen figures, also one that is usual elsewhere", () => {
    const frozen = "metric=p99&run=1&view=nines";
    expect(query.drawnApart(frozen, "run=1")).toBe("metric=throughput&view=sweep");
    for (const drawn of ["run=1", "metric=p50&run=1", "logy=1&run=1&view=errors", frozen]) {
      expect(query.drawnOver(frozen, query.drawnApart(frozen, drawn))).toBe(drawn);
    }
    expect(query.drawnApart("hidden=b&zoom=8&zoom=64", "hidden=b&hidden=a")).toBe(
      "hidden=a&hidden=b&zoom=",
    );
    for (const drawn of ["hidden=a&hidden=b", "zoom=64&zoom=8", ""]) {
      const kept = "hidden=b&logx=1&zoom=1&zoom=8";
      expect(query.drawnOver(kept, query.drawnApart(kept, drawn))).toBe(drawn);
    }
    expect(query.drawnOver(frozen, "?run=2&utm_source=x&metric=p50")).toBe(
      "metric=p50&run=1&view=nines",
    );
  });
});
