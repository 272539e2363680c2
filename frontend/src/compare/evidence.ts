// The tabs below the charts: which of them have content, and what they are called.
import type { Figures } from "../api/figures";
import { CHART_TABS } from "../charts/view";
import { slot } from "../site/dom";
import { evidenceOf } from "../text/trust";
import type { TabContents } from "./tabs";

/** After the charts and sentences are drawn: a tab without any of them is not offered. */
export function evidenceTabs(root: HTMLElement, figures: Figures): TabContents {
  const isEmpty = (name: string): boolean => slot(root, name).childElementCount === 0;
  const hasSentences = !isEmpty("derived");
  const [latency, errors, saturation] = CHART_TABS.map((tab) => isEmpty(`${tab}-charts`));
  const isTrend = (figures.changes ?? []).length > 0;
  return {
    latency: { label: "Latency", isEmpty: latency === true && isEmpty("curves") },
    errors: { label: "Errors", isEmpty: errors === true },
    saturation: {
      label: isTrend ? "Changes" : "Saturation",
      isEmpty: saturation === true && !hasSentences,
    },
    checks: { label: counted("Checks", evidenceOf(figures).count), isEmpty: false },
    runs: { label: counted("Runs", figures.runs.length), isEmpty: false },
  };
}

function counted(label: string, count: number): string {
  return count > 0 ? `${label} (${count})` : label;
}
