import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { theme } from "../../testing/chart_options";
import { figures, series } from "../../testing/figures";
import {
  colourClass,
  colourOf,
  dashOf,
  markerOf,
  SHADES,
  seriesSlots,
  seriesStyles,
} from "./series_style";

describe("identity", () => {
  it("gives no two of the first 32 slots one colour with one marker or one dash", () => {
    const slots = Array.from({ length: 32 }, (_, slot) => slot);
    expect(new Set(slots.map((slot) => `${slot % 8} ${markerOf(slot)}`)).size).toBe(32);
    expect(new Set(slots.map((slot) => `${slot % 8} ${dashOf(slot)}`)).size).toBe(32);
  });

  const looks = (...all: [string, number][]): number[] => [
    ...seriesSlots(
      figures({
        series: all.map(([id, slot]) => ({ ...series(id, slot, []), server: `of ${slot}` })),
      }),
    ).values(),
  ];

  it("keeps a server's colour, and tells its other series apart by dash and marker", () => {
    const [a, b, c] = looks(["a", 3], ["b", 3], ["c", 0]);
    expect([a, c]).toEqual([3, 0]);
    expect((b ?? 0) % 8).toBe(3);
    expect([dashOf(b ?? 0), markerOf(b ?? 0)]).not.toEqual([dashOf(3), markerOf(3)]);
  });

  it("gives three series of a server three shades of its hue", () => {
    const rgb = { ...theme, ink: "#000000", series: ["#c86400", "rgb(0, 100, 200)"] };
    const [a, b, c] = looks(["a", 1], ["b", 1], ["c", 1], ["d", 0]);
    expect([a, b, c].map((slot) => colourOf(slot ?? 0, rgb))).toEqual([
      "rgb(0, 100, 200)",
      "rgb(0, 70, 140)",
      "rgb(0, 45, 90)",
    ]);
    expect([a, b, c].map((slot) => colourClass(slot ?? 0))).toEqual([
      "series-1",
      "series-1 shade-1",
      "series-1 shade-2",
    ]);
    expect(colourOf(64, rgb)).toBe("rgb(140, 70, 0)");
    expect(colourOf(64, theme)).toBe("c0");
  });

  it("has the shades of the style sheet", () => {
    const css = readFileSync("styles/components/series.css", "utf8");
    const shares = [...css.matchAll(/var\(--ink\) (\d+)%/g)].map(([, share]) => Number(share));
    expect([0, ...shares]).toEqual(SHADES.map((share) => share * 100).map(Math.round));
  });

  it("gives each series of the only server a colour, and the first that of the server", () => {
    const many = looks(...Array.from({ length: 16 }, (_, i): [string, number] => [`v${i}`, 3]));
    expect(many[0]).toBe(3);
    expect(new Set(many.slice(0, 8).map((look) => look % 8)).size).toBe(8);
    expect(new Set(many.map((look) => `${look % 8} ${dashOf(look)} ${markerOf(look)}`)).size).toBe(
      16,
    );
  });

  it("tells sixteen series of a server apart beside another server", () => {
    const series = Array.from({ length: 16 }, (_, i): [string, number] => [`v${i}`, 3]);
    const many = looks(...series, ["other", 0]).slice(0, 16);
    expect(new Set(many.map((look) => look % 8))).toEqual(new Set([3]));
    expect(new Set(many.map((look) => `${dashOf(look)} ${markerOf(look)}`)).size).toBe(16);
  });

  it("repeats no look before all of a hue are used, whatever slots are stored", () => {
    const look = (slot: number): string =>
      [colourClass(slot), dashOf(slot), markerOf(slot)].join(" ");
    const count = (all: readonly number[]): number => new Set(all.map(look)).size;
    const servers = Array.from({ length: 40 }, (_, i): [string, number] => [`s${i}`, 7 * i]);
    expect(count(looks(...servers))).toBe(40);
    const versions = Array.from({ length: 39 }, (_, i): [string, number] => [`v${i}`, 3]);
    expect(count(looks(...versions, ["other", 0]))).toBe(40);
    // Eight servers of one hue, whose slots are stored so far apart that they looked alike.
    const apart = Array.from({ length: 8 }, (_, i): [string, number] => [`s${i}`, 1024 * i]);
    expect(count(looks(...apart))).toBe(8);
  });

  it("gives two servers two colours, also where two workspaces gave them one slot", () => {
    const slots = ["a", "b", "c"].map((id, i) => series(id, i === 2 ? 1 : 0, []));
    expect([...seriesSlots(figures({ series: slots })).values()]).toEqual([0, 2, 1]);
  });

  it("gives what is called the same one look in all panels", () => {
    const byServer = ["caddy", "nginx"].flatMap((server, slot) =>
      ["bench-1", "bench-2"].map((host) => ({
        ...series(`${server} ${host}`, slot, []),
        label: `${server} 1 (${host})`,
        server,
        host,
        facet: server,
      })),
    );
    const panels = ["caddy", "nginx"].map((value) => ({
      value,
      series: byServer.filter((one) => one.facet === value).map((one) => one.id),
      finding: "",
      outcome: figures().outcome,
      ranking: null,
    }));
    const slots = seriesSlots(figures({ series: byServer, panels }));
    expect(slots.get("caddy bench-1")).toBe(slots.get("nginx bench-1"));
    expect(slots.get("caddy bench-2")).toBe(slots.get("nginx bench-2"));
    expect(slots.get("caddy bench-1")).not.toBe(slots.get("caddy bench-2"));
    const named = seriesStyles(figures({ series: byServer, panels })).map((one) => one.label);
    expect(named).toEqual(["bench-1", "bench-2"]);
    const reversed = seriesSlots(figures({ series: [...byServer].reverse(), panels }));
    expect(new Set(reversed.values())).toEqual(new Set(slots.values()));
  });
});
