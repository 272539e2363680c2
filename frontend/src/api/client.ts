// Reads JSON. Every failure is a Problem: a sentence, and a hint what to do.

export class Problem extends Error {
  readonly status: number;
  readonly hint: string | null;

  constructor(detail: string, status: number, hint: string | null) {
    super(detail);
    this.name = "Problem";
    this.status = status;
    this.hint = hint;
  }
}

function text(body: unknown, key: string): string | null {
  if (typeof body !== "object" || body === null) return null;
  const value = (body as Record<string, unknown>)[key];
  return typeof value === "string" && value !== "" ? value : null;
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return null;
  }
}

function problem(response: Response, body: unknown): Problem {
  const detail =
    text(body, "detail") ??
    text(body, "title") ??
    `The server answered with error ${response.status}.`;
  const fallback = response.status === 401 || response.status === 403 ? "Sign in again." : null;
  return new Problem(detail, response.status, text(body, "hint") ?? fallback);
}

export async function getJson(url: string, signal?: AbortSignal): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(url, {
      headers: { Accept: "application/json" },
      credentials: "same-origin",
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem("The service could not be reached.", 0, "Check the connection and reload.");
  }
  const body = await bodyOf(response);
  if (!response.ok) throw problem(response, body);
  if (body === null) {
    throw new Problem(
      "The answer was not JSON.",
      response.status,
      "Reload the page. If the error stays, report it.",
    );
  }
  return body;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
