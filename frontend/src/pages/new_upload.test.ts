// @vitest-environment happy-dom
import { afterEach, expect, it, vi } from "vitest";

const CHOSEN = new File(["Running 10s test"], "wrk.txt");

/** The page of the upload form, where a file was chosen before its script runs. */
function choose(): void {
  document.body.innerHTML = `<form data-upload-form action="/w/lab/upload">
    <input type="file"><p data-slot="chosen"></p><section id="read"></section></form>`;
  const input = document.querySelector("input");
  if (input) Object.defineProperty(input, "files", { value: [CHOSEN] });
}

afterEach(() => vi.unstubAllGlobals());

it("previews files that were chosen before its script ran, and says so meanwhile", async () => {
  choose();
  const page = '<section id="read"><h2>Preview</h2></section>';
  let answer: (response: Response) => void = () => undefined;
  const sent = vi.fn(() => new Promise<Response>((resolve) => (answer = resolve)));
  vi.stubGlobal("fetch", sent);
  await import("./new_upload");
  expect(document.querySelector("[data-slot=chosen]")?.textContent).toBe("1 file: wrk.txt");
  expect(document.getElementById("read")?.textContent).toBe("Reading…");
  expect(sent).toHaveBeenCalledTimes(1);
  answer(new Response(page));
  await vi.waitFor(() => expect(document.getElementById("read")?.textContent).toBe("Preview"));
});

it("has one preview read at a time, and what changed meanwhile after it", async () => {
  vi.resetModules();
  choose();
  const answers: ((response: Response) => void)[] = [];
  const sent = vi.fn(() => new Promise<Response>((resolve) => answers.push(resolve)));
  vi.stubGlobal("fetch", sent);
  await import("./new_upload");
  const input = document.querySelector("input");
  input?.dispatchEvent(new Event("change"));
  input?.dispatchEvent(new Event("change"));
  expect(sent).toHaveBeenCalledTimes(1);
  answers[0]?.(new Response('<section id="read"><p>First</p></section>'));
  await vi.waitFor(() => expect(sent).toHaveBeenCalledTimes(2));
  expect(document.getElementById("read")?.textContent).toBe("Reading…");
  answers[1]?.(new Response('<section id="read"><p>Second</p></section>'));
  await vi.waitFor(() => expect(document.getElementById("read")?.textContent).toBe("Second"));
  expect(sent).toHaveBeenCalledTimes(2);
});

it("is busy no more when a preview was refused", async () => {
  vi.resetModules();
  choose();
  const refused = "<main><h1>Too large</h1><p>Compress it.</p></main>";
  vi.stubGlobal("fetch", vi.fn().mockResolvedValue(new Response(refused, { status: 413 })));
  await import("./new_upload");
  const place = document.getElementById("read");
  await vi.waitFor(() => expect(place?.textContent).toBe("Too largeCompress it."));
  expect(place?.hasAttribute("aria-busy")).toBe(false);
});
