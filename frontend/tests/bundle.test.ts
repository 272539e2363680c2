// @vitest-environment node
// What a reader has to load: built anew here, so that it is this source that is measured.
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const BUDGET = 130 * 1024;
const root = join(import.meta.dirname, "..");

async function bundle(page: string): Promise<string> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: [`src/pages/${page}.ts`],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome109", "firefox115", "safari16.4"],
  });
  return result.outputFiles[0]?.text ?? "";
}

describe("the compare page", () => {
  it("loads at most 130 KB of script, Chart.js once", { timeout: 60_000 }, async () => {
    const pages = await Promise.all(["theme", "site", "compare"].map(bundle));
    const sizes = pages.map((text) => gzipSync(text, { level: 9 }).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(BUDGET);
    expect(pages.map((text) => text.includes("chartArea"))).toEqual([false, false, true]);
  });
});
