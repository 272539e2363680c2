// Single-key shortcuts, silent while the reader types in a field and under a dialog.

export function onKey(key: string, act: () => void): void {
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement | null;
    if (event.ctrlKey || event.metaKey || event.altKey || event.key !== key) return;
    if (target?.closest("input, textarea, select, [contenteditable]")) return;
    if (document.querySelector("dialog[open]")) return;
    event.preventDefault();
    act();
  });
}
