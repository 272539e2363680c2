import { describe, expect, it } from "vitest";
import * as format from "./format";

describe("significant", () => {
  it.each([
    [0, null, "0"],
    [1234.5, null, "1,230"],
    [-1_234_567, null, "\u22121,230,000"],
    [0.473, null, "0.473"],
    [1.7, null, "1.70"],
    [99.96, null, "100.0"],
    [-Math.PI, null, "\u22123.14"],
    [0.00012345, null, "0.000123"],
  ])("prints %d (half width %s) as %s", (value, half, text) => {
    expect(format.significant(value, half)).toBe(text);
  });

  it("is never finer than two digits of the interval's half width", () => {
    expect(format.significant(52_341, 20_000)).toBe("52,000");
    expect(format.significant(1.624, 0.075)).toBe("1.62");
    expect(format.significant(1.624, 0.75)).toBe("1.62");
    expect(format.significant(1.624, 7.5)).toBe("1.6");
  });

  it("keeps two digits beside a wide interval, whose ends are not rounded to nothing", () => {
    expect(format.significant(2.31, 22)).toBe("2.3");
    expect(format.interval(0.12, 44, format.PLAIN)).toBe("[0.1, 44]");
    expect(format.interval(0, 44, format.PLAIN)).toBe("[0, 44]");
  });
});

describe("units", () => {
  it("follow the median of the column", () => {
    expect(format.unitFor("time", [90, 800, 950_000]).header).toBe("µs");
    expect(format.unitFor("time", [900, 8_000, 950_000]).header).toBe("ms");
    expect(format.unitFor("time", [2_000_000]).header).toBe("s");
    expect(format.unitFor("rate", [999.9]).header).toBe("k req/s");
    expect(format.unitFor("rate", [null, undefined, 12]).header).toBe("req/s");
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
    expect(format.single("rate", 52_341)).toBe("52.3k req/s");
    expect(format.single("time", 1_234)).toBe("1.23 ms");
    expect(format.single("ratio", 0.034)).toBe("3.40 %");
    expect(format.single("time", 0, null, 1_000)).toBe("< 1 ms");
    expect(format.single("time", 1_000, null, 1_000)).toBe("1.00 ms");
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
