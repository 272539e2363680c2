// Copy buttons: the text of the element they name, or the page's address.
const SAID_MS = 1_500;

async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export function bindCopy(root: ParentNode = document): void {
  for (const control of root.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    control.addEventListener("click", async () => {
      const id = control.dataset.copy ?? "";
      const source = id ? document.getElementById(id) : null;
      const done = await write(source ? (source.textContent ?? "").trim() : location.href);
      const label = control.dataset.label ?? control.textContent ?? "";
      control.dataset.label = label;
      control.textContent = done ? "Copied" : "Press Ctrl+C";
      if (!done && source) getSelection()?.selectAllChildren(source);
      setTimeout(() => {
        control.textContent = label;
      }, SAID_MS);
    });
  }
}
