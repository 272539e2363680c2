// @vitest-environment node
// What a reader has to load: built anew here, so that it is this source that is measured.
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { bundles } from "./bundles.mjs";

const BUDGET = 110 * 1024;
// A sentence of the library's own.
const LIBRARY = " is not a registered ";
const scripts = new Map<string, string>();

beforeAll(async () => {
  for (const options of bundles) {
    const made = await build({ ...options, outdir: "/out", write: false });
    for (const { path, text } of made.outputFiles) scripts.set(path.replace("/out/", ""), text);
  }
}, 60_000);

describe("the compare page", () => {
  it("loads at most 110 KB of script", () => {
    const sizes = ["theme", "site", "charts", "compare"].map(
      (page) => gzipSync(scripts.get(`${page}.js`) ?? "", { level: 9 }).length,
    );
    expect(sizes.every((size) => size > 100)).toBe(true);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(BUDGET);
  });
});

describe("Chart.js", () => {
  it("is in one script, which the pages share", () => {
    const holding = [...scripts].filter(([, text]) => text.includes(LIBRARY));
    expect(holding.map(([name]) => name)).toEqual(["charts.js"]);
    expect(scripts.get("trial.js")).toContain("loadsheetCharts");
  });
});
