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

async function request(url: string, signal?: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, {
      headers: { Accept: "application/json" },
      credentials: "same-origin",
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Problem("The service could not be reached.", 0, "Check the connection and reload.");
  }
}

const RETRIES = 3;
const LONGEST_WAIT_S = 10;

// Seconds to wait before another try; null where the service does not ask for one.
function retryAfter(response: Response): number | null {
  if (response.status !== 429 && response.status !== 503) return null;
  const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
  return seconds > 0 && seconds <= LONGEST_WAIT_S ? seconds : null;
}

function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("Aborted", "AbortError"));
    });
  });
}

// A busy service is asked again after the time it gives.
async function requestPatiently(url: string, signal?: AbortSignal): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    const response = await request(url, signal);
    const wait = retryAfter(response);
    if (wait === null || attempt === RETRIES) return response;
    await pause(wait, signal);
  }
}

export async function getJson(url: string, signal?: AbortSignal): Promise<unknown> {
  const response = await requestPatiently(url, signal);
  const body = await bodyOf(response);
  if (!response.ok) throw problem(response, body);
  if (body === null) {
    throw new Problem(
      "The answer was not JSON.",
      response.status,
      "Reload the page. If it happens again, report it.",
    );
  }
  return body;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
