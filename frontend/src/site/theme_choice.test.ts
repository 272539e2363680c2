// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { nextTheme } from "./theme_choice";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("theme", () => {
  it("goes round", () => {
    expect(nextTheme("system")).toBe("light");
    expect(nextTheme("dark")).toBe("system");
  });
});
