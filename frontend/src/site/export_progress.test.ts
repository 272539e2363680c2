import { expect, test } from "vitest";
import { isUnfinished, progressText } from "./export_progress";

const started = { state: "writing", rows_done: 1200, files_done: 0, files_total: null };

test("rows come first, then raw files of a known number", () => {
  expect(progressText({ ...started, state: "waiting" })).toBe("Waiting");
  expect(progressText(started)).toBe("Writing rows: 1200 so far");
  const later = { ...started, files_done: 3, files_total: 98 };
  expect(progressText(later)).toBe("Writing raw files: 3 of 98");
});

test("an archive that is done or failed is followed no longer", () => {
  expect(
    ["waiting", "writing", "done", "failed"].map((state) => isUnfinished({ ...started, state })),
  ).toEqual([true, true, false, false]);
});
