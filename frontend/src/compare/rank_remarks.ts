// What the rows of a ranking remark: why a ratio is open, and whether a limit is kept.
import type { RankingRow, RankingView } from "../charts/ranking";
import { roundNumber } from "../text/format";

export interface Remarks {
  /** A sentence above the rows: what most of them remark. Empty where they remark other things. */
  readonly shared: string;
  /** What each row remarks besides. */
  readonly ofRows: readonly string[];
}

/** As many rows with one remark have it once, above all of them. */
const LEAST_SHARED = 3;
/** The remark of a noisy row; the difference that would have been found follows. */
const TOO_NOISY = "too noisy to call";

export function remarksOf(view: RankingView): Remarks {
  const remarks = view.rows.map(limitOrRatio);
  const shared = sharedRemark(view, remarks);
  const ofRows = view.rows.map((row, i) =>
    remarks[i] === shared ? "" : withFound(remarks[i] ?? "", row),
  );
  return { shared: shared && sharedLine(shared, view, remarks), ofRows };
}

/** What a row says of the limit, and of its ratio where it keeps the limit. */
function limitOrRatio(row: RankingRow): string {
  const { limitDoubt, overLimit } = row;
  if (overLimit) return limitDoubt || overLimit;
  if (!limitDoubt) return ofRatio(row);
  return [limitDoubt, withFound(ofRatio(row), row)].filter(Boolean).join("; ");
}

/** The remark of most rows, where each row but the baseline's has one; else empty. */
function sharedRemark({ rows }: RankingView, remarks: readonly string[]): string {
  const others = remarks.filter((_, i) => !rows[i]?.baseline);
  const count = (text: string): number => others.filter((each) => each === text).length;
  const most = others.reduce((best, each) => (count(each) > count(best) ? each : best), "");
  // Without a remark a row is decided: it must not look like those that share one.
  const isClear = others.length < rows.length && !others.includes("");
  return isClear && count(most) >= LEAST_SHARED ? most : "";
}

/** What is said once: of all rows but the baseline's, or of those that say nothing else. */
function sharedLine(shared: string, { rows }: RankingView, remarks: readonly string[]): string {
  const isOfAll = remarks.every((each, i) => rows[i]?.baseline || each === shared);
  const lead = `${isOfAll ? "All other series" : "Series without a note below"}: ${shared}`;
  if (shared !== TOO_NOISY) return `${lead}.`;
  const alike = rows.filter((row, i) => remarks[i] === shared && !row.baseline);
  const found = foundText(alike.flatMap(({ findsFrom }) => findsFrom ?? []));
  return `${[lead, found].filter(Boolean).join("; ")}.`;
}

/** "a difference of 12 % or more would have been found": in every row, by the noisiest. */
function foundText(shares: readonly number[]): string {
  if (shares.length === 0) return "";
  const most = Math.max(...shares);
  const size = most < 1 ? `${roundNumber(most * 100, 2)} %` : `${roundNumber(1 + most, 2)}×`;
  return `${most < 1 ? "a" : "only a"} difference of ${size} or more would have been found`;
}

function withFound(remark: string, { findsFrom }: RankingRow): string {
  if (remark !== TOO_NOISY || findsFrom === null) return remark;
  return `${remark}: ${foundText([findsFrom])}`;
}

/** A difference can fail twice: within noise, or too small to matter. A row says which. */
function ofRatio(row: RankingRow): string {
  const lead = ratioLead(row);
  // Better or worse, beyond noise and threshold: the ratio alone says enough.
  const isDecided = row.verdict === "improved" || row.verdict === "regressed";
  if (!lead && (isDecided || row.baseline)) return "";
  // The difference that would have been found says more than that the interval includes 1×.
  if (lead === TOO_NOISY && row.findsFrom !== null) return lead;
  return [lead, row.why].filter(Boolean).join(": ");
}

function ratioLead(row: RankingRow): string {
  // Without an interval the reason says all of it, as that of an uncertain size does.
  if (row.verdict === "inconclusive") return row.ratioRange ? TOO_NOISY : "";
  if (row.verdict !== "unchanged") return "";
  return row.significant === true && row.relevant === false
    ? "beyond noise, too small to matter"
    : "no relevant difference";
}
