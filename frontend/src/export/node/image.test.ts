// @vitest-environment node
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { figures } from "../../testing/figures";
import { boundTexts, readRequest } from "./request";
import { lightColours, lightTheme } from "./theme";

const tokens = readFileSync(new URL("../../../styles/tokens.css", import.meta.url), "utf8");

describe("names in an image", () => {
  it("are of a length that can be drawn, cut between characters", () => {
    expect([...String(boundTexts("🚀".repeat(10_000)))]).toHaveLength(160);
    expect(boundTexts("x".repeat(160))).toBe("x".repeat(160));
  });

  it("are plain wherever they stand, and nothing else is touched", () => {
    const value = { a: ["\u202ex", 1, null, true], finding: "y".repeat(300), b: { c: 2.5 } };
    expect(boundTexts(value)).toEqual({
      a: ["x", 1, null, true],
      finding: value.finding,
      b: value.b,
    });
  });
});

describe("the scene", () => {
  it("leaves the query, which is no text to be shown, as it is", () => {
    const query = `label=${"x".repeat(500)}`;
    const sent = { figures: figures({ query }), url: "u", date: "d" };
    expect(readRequest(sent).figures.query).toBe(query);
  });
});

describe("the theme of images", () => {
  it("is the light side of the style sheet's own colours", () => {
    const colours = lightColours(tokens);
    expect(lightTheme(tokens, "F").surface).toBe(colours.get("surface"));
    expect(lightTheme(tokens, "F").series).toHaveLength(8);
  });

  it("fails loudly where a colour is missing", () => {
    expect(() => lightTheme("--ink: light-dark(#000, #fff);", "F")).toThrow("has no colour --");
  });
});
