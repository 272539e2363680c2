// @vitest-environment node
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { plain, sceneOf, tamed } from "../src/images/scene";
import { lightColours, lightTheme } from "../src/images/theme";
import { figures } from "./figures";

const tokens = readFileSync(new URL("../styles/tokens.css", import.meta.url), "utf8");

describe("names in an image", () => {
  it("turn nothing around and hold nothing that is not seen", () => {
    expect(plain("a\u202eb\u0000c\u2066d\n e")).toBe("a b c d  e");
    expect(plain("שלום 🚀 <b>")).toBe("שלום 🚀 <b>");
  });

  it("are of a length that can be drawn, cut between characters", () => {
    expect([...plain("🚀".repeat(10_000))]).toHaveLength(161);
    expect(plain("x".repeat(10_240))).toMatch(/^x{160}…$/);
    expect(plain("x".repeat(160))).toBe("x".repeat(160));
  });

  it("are plain wherever they stand, and nothing else is touched", () => {
    const value = { a: ["\u202ex", 1, null, true], finding: "y".repeat(300), b: { c: 2.5 } };
    expect(tamed(value)).toEqual({ a: ["x", 1, null, true], finding: value.finding, b: value.b });
  });
});

describe("the scene", () => {
  it("knows the override from the query, which stays as it is", () => {
    const sent = { figures: figures({ query: "override=1" }), url: "u", date: "d" };
    expect(sceneOf(sent).overridden).toBe(true);
    expect(sceneOf({ ...sent, figures: figures() }).overridden).toBe(false);
    expect(sceneOf(sent).figures.query).toBe("override=1");
  });
});

describe("the theme of images", () => {
  it("is the light side of the style sheet's own colours", () => {
    const colours = lightColours(tokens);
    expect(lightTheme(tokens, "F").surface).toBe(colours.get("surface"));
    expect(lightTheme(tokens, "F").series).toHaveLength(8);
  });

  it("fails loudly where a colour is missing", () => {
    expect(() => lightTheme("--ink: light-dark(#000, #fff);", "F")).toThrow("--page");
  });
});
