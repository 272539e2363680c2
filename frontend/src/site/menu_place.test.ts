import { describe, expect, it } from "vitest";
import { shiftOnScreen } from "./menu_place";

describe("the place of a menu", () => {
  it("moves only where it would leave the screen, and never beyond its left edge", () => {
    expect(shiftOnScreen(100, 440, 1440)).toBe(0);
    expect(shiftOnScreen(1300, 1640, 1440)).toBe(208);
    expect(shiftOnScreen(20, 380, 320)).toBe(12);
    expect(shiftOnScreen(0, 400, 320)).toBe(0);
  });
});
