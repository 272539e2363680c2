// Dropping files anywhere on the page, and a preview of them without leaving it. The page's own
// form does the work; without this script it is sent whole.
import { h, optionalSlot } from "../site/dom";
import { formatNumbers } from "../site/enhance";
import { plural } from "../text/format";

const PASTE_PAUSE_MS = 600;
const NAMES_SHOWN = 5;

class UploadForm {
  readonly #form: HTMLFormElement;
  readonly #files: HTMLInputElement | null;
  readonly #paste: HTMLTextAreaElement | null;
  #reading: Promise<void> | null = null;
  #isChanged = false;
  #timer = 0;

  constructor(form: HTMLFormElement) {
    this.#form = form;
    this.#files = form.querySelector<HTMLInputElement>("input[type=file]");
    this.#paste = form.querySelector<HTMLTextAreaElement>("textarea[name=paste]");
  }

  bind(): void {
    this.#form.addEventListener("submit", (event) => this.#onSubmit(event));
    this.#files?.addEventListener("change", () => this.#showFiles());
    this.#paste?.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => {
        if (this.#hasPaste()) void this.#preview();
      }, PASTE_PAUSE_MS);
    });
    this.#form.querySelector("fieldset")?.addEventListener("change", () => {
      if (this.#hasPaste() || this.#files?.files?.length) void this.#preview();
    });
    addEventListener("dragover", (event) => this.#onDragOver(event));
    addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) this.#form.classList.remove("is-over");
    });
    addEventListener("drop", (event) => this.#onDrop(event));
    // Files that were chosen before this script ran, or that the browser kept over a reload.
    if (this.#files?.files?.length) this.#showFiles();
  }

  #onSubmit(event: SubmitEvent): void {
    const submitter = event.submitter as HTMLButtonElement | null;
    if (submitter?.value !== "read") return;
    event.preventDefault();
    // On a phone it begins below the screen. Not while somebody types: the field would move away.
    const reading = this.#reading ?? this.#preview();
    void reading.then(() => document.getElementById("read")?.scrollIntoView());
  }

  #onDragOver(event: DragEvent): void {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    this.#form.classList.add("is-over");
  }

  #onDrop(event: DragEvent): void {
    this.#form.classList.remove("is-over");
    const dropped = event.dataTransfer?.files;
    if (!this.#files || !dropped || dropped.length === 0) return;
    event.preventDefault();
    this.#files.files = dropped;
    this.#showFiles();
  }

  #showFiles(): void {
    const names = [...(this.#files?.files ?? [])].map((file) => file.name);
    const chosen = optionalSlot(this.#form, "chosen");
    if (chosen && names.length > 0) {
      const more = names.length > NAMES_SHOWN ? " …" : "";
      const shown = names.slice(0, NAMES_SHOWN).join(", ");
      chosen.textContent = `${plural(names.length, "file")}: ${shown}${more}`;
    }
    void this.#preview();
  }

  #hasPaste(): boolean {
    return (this.#paste?.value.trim() ?? "") !== "";
  }

  /** Ends when the preview shows what the form has. */
  #preview(): Promise<void> {
    this.#isChanged = true;
    this.#reading ??= this.#readChanges().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** One request at a time: the service reads few previews of one viewer at once. */
  async #readChanges(): Promise<void> {
    while (this.#isChanged) {
      this.#isChanged = false;
      await this.#read();
    }
  }

  /** The server renders the page again; only its preview is put in place of the old one. */
  async #read(): Promise<void> {
    if (this.#isTooLarge()) return showError(this.#tooLargeText());
    showBusy();
    try {
      const page = await this.#renderedPage();
      if (!this.#isChanged) showPreview(page);
    } catch {
      showError("The service could not be reached. Check the connection and try again.");
    }
  }

  /** Visitors without an account may send little; the server would answer with an error page. */
  get #mostKib(): number {
    return Number(this.#form.dataset.mostKib ?? Number.POSITIVE_INFINITY);
  }

  #sentBytes(): number {
    const files = [...(this.#files?.files ?? [])].reduce((sum, file) => sum + file.size, 0);
    return files + new Blob([this.#paste?.value ?? ""]).size;
  }

  #isTooLarge(): boolean {
    return this.#sentBytes() > this.#mostKib * 1024;
  }

  #tooLargeText(): string {
    const kib = Math.ceil(this.#sentBytes() / 1024).toLocaleString("en");
    return `The output has ${kib} KiB. Without an account, at most ${this.#mostKib} KiB are read. Sign in to read more.`;
  }

  async #renderedPage(): Promise<Document> {
    const body = new FormData(this.#form);
    body.set("action", "read");
    // Not form.action: that would be the buttons of that name.
    const url = this.#form.getAttribute("action") ?? "";
    const response = await fetch(url, { method: "POST", body });
    return new DOMParser().parseFromString(await response.text(), "text/html");
  }
}

/** Says that files are read, where no earlier preview stands. */
function showBusy(): void {
  const place = document.getElementById("read");
  if (!place) return;
  place.setAttribute("aria-busy", "true");
  if (place.childElementCount > 0) return;
  place.replaceChildren(h("p", { class: "hint" }, "Reading…"));
}

function showPreview(page: Document): void {
  const preview = page.getElementById("read");
  if (!preview) {
    // A page of its own says what happened, why, and what to do.
    const parts = page.querySelectorAll("main h1, main p:not(:has(a))");
    const sentences = [...parts].map((part) => part.textContent?.trim() ?? "").filter(Boolean);
    showError(...(sentences.length ? sentences : ["The answer could not be read. Try again."]));
    return;
  }
  const placed = document.importNode(preview, true);
  document.getElementById("read")?.replaceWith(placed);
  formatNumbers(placed);
}

function showError(...sentences: readonly string[]): void {
  const paragraphs = sentences.map((sentence) => h("p", {}, sentence));
  const notice = h("div", { class: "notice notice-error" }, ...paragraphs);
  const place = document.getElementById("read");
  // Else the notice looks disabled, and screen readers wait for its end.
  place?.removeAttribute("aria-busy");
  place?.replaceChildren(notice);
}

const form = document.querySelector<HTMLFormElement>("form[data-upload-form]");
if (form) new UploadForm(form).bind();
