import { describe, expect, it } from "vitest";
import { shortenNames, shortNames } from "./names";

describe("names in little room", () => {
  it("keep what tells them apart when they are cut", () => {
    expect(shortenNames(["gunicorn gthread", "gunicorn sync", "nginx"], 12)).toEqual([
      "gunico…hread",
      "gunico… sync",
      "nginx",
    ]);
    expect(shortenNames(["gunicorn gthread 23.0", "gunicorn sync 23.0"], 12)).toEqual([
      "…gthread…",
      "…sync…",
    ]);
    expect(shortenNames(["one", "one"], 9)).toEqual(["one", "one"]);
    expect([...(shortenNames(["😀".repeat(50)], 9)[0] ?? "")]).toHaveLength(9);
  });

  it("keep the words that not all of them have, where several differ", () => {
    const names = ["10,000", "40"].flatMap((size) =>
      ["fixed", "file"].map((kind) => `Twisted 13.1 (${size} bytes, resource=${kind})`),
    );
    expect(shortenNames(["nginx", ...names], 16)).toEqual([
      "nginx",
      "…10,000 fixed",
      "…10,000 file",
      "Twisted…40 fixed",
      "Twisted…40 file",
    ]);
    expect(shortenNames(["nginx", ...names], 20)[1]).toBe("Twisted…10,000 fixed");
  });

  it("are parts of dates and times, never cut within one", () => {
    const days = ["2026-10-14 16:44:35", "2026-11-07 09:30:00"];
    expect(shortenNames(days, 12)).toEqual(["2026-10-14", "2026-11-07"]);
    expect(shortenNames(days, 9)).toEqual(["10-14", "11-07"]);
    expect(shortenNames(["2026-10-14 16:44:35", "2026-10-14 18:00:00"], 9)).toEqual([
      "16:44",
      "18:00",
    ]);
  });

  it("are longer where nothing shorter tells them apart", () => {
    const names = ["abcdefgh-1-x", "abcdefgh-2-x", "zbcdefgh-1-x"];
    expect(new Set(shortenNames(names, 5)).size).toBe(3);
  });

  it("are cut at their end, unless that makes two alike", () => {
    expect(shortNames(["gunicorn gthread", "nginx"], 9)).toEqual(["gunicorn…", "nginx"]);
    const alike = shortNames(["gunicorn gthread", "gunicorn sync"], 9);
    expect(new Set(alike).size).toBe(2);
    expect(shortNames(["one", "one"], 9)).toEqual(["one", "one"]);
  });
});
