// Follows the archive that is being written, then shows the finished page.
import { getJson, Problem } from "../api/client";
import { type ExportProgress, isUnfinished, progressText } from "../site/export_progress";
import { readAgain, watchReader } from "../site/reading_again";

const PAUSE_MS = 2_000;

async function follow(place: HTMLElement, url: string): Promise<void> {
  try {
    const progress = (await getJson(url)) as ExportProgress;
    if (!isUnfinished(progress)) {
      readAgain();
      return;
    }
    const text = progressText(progress);
    if (place.textContent !== text) place.textContent = text;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
  setTimeout(() => void follow(place, url), PAUSE_MS);
}

for (const place of document.querySelectorAll<HTMLElement>("[data-export-url]")) {
  const url = place.dataset.exportUrl ?? "";
  watchReader();
  setTimeout(() => void follow(place, url), PAUSE_MS);
}
