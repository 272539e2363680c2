// Copy buttons: the text of the element they name, or the page's address.
const SHOWN_MS = 1_500;

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export function bindCopy(root: ParentNode = document): void {
  for (const control of root.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    control.addEventListener("click", () => void copyFor(control));
  }
}

async function copyFor(control: HTMLButtonElement): Promise<void> {
  const id = control.dataset.copy;
  const source = id ? document.getElementById(id) : null;
  const isCopied = await copyText(source ? (source.textContent ?? "").trim() : location.href);
  if (!isCopied && source) getSelection()?.selectAllChildren(source);
  showResult(control, isCopied ? "Copied" : "Press Ctrl+C");
}

/** The result stands on the button for a moment, in place of its label. */
function showResult(control: HTMLButtonElement, result: string): void {
  const label = control.dataset.label ?? control.textContent ?? "";
  control.dataset.label = label;
  control.textContent = result;
  setTimeout(() => {
    control.textContent = label;
  }, SHOWN_MS);
}
