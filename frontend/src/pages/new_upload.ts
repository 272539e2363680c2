// Dropping files anywhere on the page, and showing what is read without leaving it. The page's
// own form does the work; without this script it is sent whole.

import { optionalSlot } from "../site/dom";
import { formatNumbers } from "../site/enhance";
import { plural } from "../text/format";

const form = document.querySelector<HTMLFormElement>("form[data-upload-form]");
const PASTE_PAUSE_MS = 600;

function start(page: HTMLFormElement): void {
  const files = page.querySelector<HTMLInputElement>("input[type=file]");
  const paste = page.querySelector<HTMLTextAreaElement>("textarea[name=paste]");
  const chosen = optionalSlot(page, "chosen");
  let pending: AbortController | null = null;
  let timer = 0;

  const say = (sentence: string): void => {
    const place = document.getElementById("read");
    const notice = document.createElement("p");
    notice.className = "notice notice-error";
    notice.textContent = sentence;
    place?.replaceChildren(notice);
  };

  /** The server renders the page again; only its answer is put in place of the old one. */
  const read = async (): Promise<void> => {
    pending?.abort();
    const mine = new AbortController();
    pending = mine;
    const body = new FormData(page);
    body.set("action", "read");
    document.getElementById("read")?.setAttribute("aria-busy", "true");
    try {
      // Not page.action: the buttons of that name would be found.
      const url = page.getAttribute("action") ?? "";
      const response = await fetch(url, { method: "POST", body, signal: mine.signal });
      const parsed = new DOMParser().parseFromString(await response.text(), "text/html");
      const answer = parsed.getElementById("read");
      if (!answer) {
        say(parsed.querySelector("main h1")?.textContent ?? "The answer could not be read.");
        return;
      }
      const placed = document.importNode(answer, true);
      document.getElementById("read")?.replaceWith(placed);
      formatNumbers(placed);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return;
      say("The service could not be reached. Check the connection and try again.");
    }
  };

  const named = (): void => {
    const names = [...(files?.files ?? [])].map((file) => file.name);
    if (chosen && names.length > 0) {
      const more = names.length > 5 ? " …" : "";
      chosen.textContent = `${plural(names.length, "file")}: ${names.slice(0, 5).join(", ")}${more}`;
    }
  };

  page.addEventListener("submit", (event) => {
    const by = event.submitter as HTMLButtonElement | null;
    if (by?.value !== "read") return;
    event.preventDefault();
    void read();
  });
  files?.addEventListener("change", () => {
    named();
    void read();
  });
  paste?.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (paste.value.trim()) void read();
    }, PASTE_PAUSE_MS);
  });
  page.querySelector("fieldset")?.addEventListener("change", () => {
    if (paste?.value.trim() || files?.files?.length) void read();
  });
  addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    page.classList.add("is-over");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) page.classList.remove("is-over");
  });
  addEventListener("drop", (event) => {
    page.classList.remove("is-over");
    const dropped = event.dataTransfer?.files;
    if (!files || !dropped || dropped.length === 0) return;
    event.preventDefault();
    files.files = dropped;
    named();
    void read();
  });
}

if (form) start(form);
