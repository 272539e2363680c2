import { describe, expect, it } from "vitest";
import * as format from "./format";

describe("significant", () => {
  it.each([
    [0, "0"],
    [1234.5, "1,230"],
    [-1_234_567, "\u22121,230,000"],
    [0.473, "0.473"],
    [1.7, "1.70"],
    [99.96, "100.0"],
    [-Math.PI, "\u22123.14"],
    [0.00012345, "0.000123"],
  ])("prints %d as %s", (value, text) => {
    expect(format.significant(value)).toBe(text);
  });

  it("is the rule of every place that a figure stands in", () => {
    const unit = format.unitFor("rate", [4, 5_734, 900_000]);
    expect(format.inUnit(5_734, unit)).toBe("5,730");
    expect(format.single("rate", 5_734)).toBe("5,730 req/s");
    expect(format.interval(5_234, 6_234, unit)).toBe("[5,230, 6,230]");
  });

  it("rounds no end of a wide interval to nothing", () => {
    expect(format.interval(0.0012, 44, format.PLAIN)).toBe("[0.001, 44.0]");
    expect(format.interval(0, 44, format.PLAIN)).toBe("[0.0, 44.0]");
  });
});

describe("units", () => {
  it("follow the median of the column", () => {
    expect(format.unitFor("time", [90, 800, 950_000]).header).toBe("µs");
    expect(format.unitFor("time", [900, 8_000, 950_000]).header).toBe("ms");
    expect(format.unitFor("time", [2_000_000]).header).toBe("s");
    expect(format.unitFor("rate", [12, 93_500]).header).toBe("req/s");
    expect(format.unitFor("bytes", [4096]).header).toBe("KiB");
  });

  it("ignore zeros, which suit every unit", () => {
    expect(format.unitFor("time", [0, 0, 5_000]).header).toBe("ms");
  });
});

describe("unknown", () => {
  it("is said, never printed as a number", () => {
    const unit = format.unitFor("rate", []);
    for (const value of [null, undefined, Number.NaN]) {
      expect(format.inUnit(value, unit)).toBe("unknown");
      expect(format.single("time", value)).toBe("unknown");
      expect(format.times(value)).toBe("unknown");
      expect(format.exact("rate", value)).toBe("unknown");
    }
    expect(format.interval(null, 2, unit)).toBe("");
    expect(format.utc("")).toBe("unknown");
  });
});

describe("text", () => {
  it("gives single values their own unit", () => {
    expect(format.single("rate", 52_341)).toBe("52,300 req/s");
    expect(format.single("time", 1_234)).toBe("1.23 ms");
    expect(format.single("ratio", 0.034)).toBe("3.40 %");
    expect(format.single("time", 0, 1_000)).toBe("< 1 ms");
    expect(format.single("time", 1_000, 1_000)).toBe("1.00 ms");
    expect(format.single("bytes", 512)).toBe("512 B");
    expect(format.single("bytes", 13)).toBe("13 B");
    expect(format.single("bytes", 1_020)).toBe("1,020 B");
    expect(format.loadPoint(5_000, "Connections")).toBe("5,000 connections");
    expect(format.exact("rate", 52_341.1234)).toBe("52,341.1234 req/s");
    expect(format.grouped(1_234.5)).toBe("1,234.5");
    expect(format.roundNumber(0.00012, 6)).toBe("0.00012");
    expect(format.single("bytes", 2 ** 40)).toBe("1.00 TiB");
    expect(format.single("count", 1_234_567)).toBe("1,234,567");
  });

  it("gives ends that three digits do not tell apart more of them", () => {
    const unit = format.unitFor("time", [19_900]);
    expect(format.interval(19_930, 19_940, unit)).toBe("[19.93, 19.94]");
    expect(format.timesRange(1.0981, 1.1027)).toBe("[1.098, 1.103]");
    expect(format.timesRange(1.1002, 1.1006)).toBe("[1.100, 1.101]");
    expect(format.interval(5, 5, unit)).toBe("");
  });

  it("prints ratios with their interval beside them", () => {
    expect(format.times(1.624, 1.55, 1.7)).toBe("1.62×");
    // No bound is rounded to nothing, nor onto the 1× that it leaves out.
    expect(format.times(0.139, 0.00011, 177)).toBe("0.14×");
    expect(format.timesRange(0.00011, 177)).toBe("[0.00011, 177]");
    expect(format.times(2.25, 1.04, 4.88)).toBe("2.3×");
    expect(format.timesRange(1.04, 4.88)).toBe("[1.04, 4.9]");
    expect(format.timesRange(1.0001, 1.0007)).toBe("[1.0001, 1.001]");
    expect(format.timesRange(1, 1)).toBe("");
    expect(format.interval(1.55, 1.7, format.PLAIN)).toBe("[1.55, 1.70]");
  });

  it("keeps of a name what is seen, cut between characters, turning nothing around", () => {
    expect(format.short("a\u202eb\u0000c\u2066d\n\ud800e")).toBe("a b c d e");
    expect(format.short("שלום 🚀 <b>")).toBe("שלום 🚀 <b>");
    expect(format.short("👩\u200d🚀")).toBe("👩\u200d🚀");
    expect([...format.short("🚀".repeat(10_000), 48)]).toHaveLength(48);
    expect(format.short("x".repeat(10_240), 48)).toMatch(/^x{47}…$/);
    expect(format.short(`\u202e${"\u0000".repeat(400)}x`, 48)).toBe("…");
  });

  it("prints dates in UTC and says how long ago", () => {
    expect(format.utc("2026-11-21T06:05:59+01:00")).toBe("2026-11-21 05:05 UTC");
    const now = Date.parse("2026-11-21T06:00:00Z");
    expect(format.relative("2026-11-21T03:00:00Z", now)).toBe("3 hours ago");
    expect(format.relative("2026-11-21T05:59:40Z", now)).toBe("just now");
  });
});
