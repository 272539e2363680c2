// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { takeNewer } from "./demo_progress";

function page(demo: string, link: string): Document {
  const html = `
    ${demo && `<section data-demo>${demo}</section>`}
    ${link && `<section data-comparison="${link}"></section>`}
    <textarea></textarea>`;
  return new DOMParser().parseFromString(html, "text/html");
}

function linkOf(shown: Document): string | undefined {
  return shown.querySelector<HTMLElement>("[data-comparison]")?.dataset.comparison;
}

test("progress is renewed, and what somebody writes stays", () => {
  const here = page("3 of 48 trials", "study");
  const field = here.querySelector("textarea");
  if (field) field.value = "Running 10s test";
  expect(takeNewer(here, page("9 of 48 trials", "study"))).toBeNull();
  expect(here.querySelector("[data-demo]")?.textContent).toBe("9 of 48 trials");
  expect(here.querySelector("textarea")?.value).toBe("Running 10s test");
});

test("the comparison of the demo takes the place of the one that was shown", () => {
  const here = page("48 of 48 trials", "study");
  expect(takeNewer(here, page("", "demo"))).toBe(here.querySelector("[data-comparison]"));
  expect(linkOf(here)).toBe("demo");
  expect(here.querySelector("[data-demo]")).toBeNull();
});

test("the demo that ended stays until its comparison is published", () => {
  const here = page("48 of 48 trials", "study");
  expect(takeNewer(here, page("", "study"))).toBeNull();
  expect(here.querySelector("[data-demo]")).not.toBeNull();
});

test("without a comparison before it, that of the demo comes below its progress", () => {
  const here = page("48 of 48 trials", "");
  expect(takeNewer(here, page("", "demo"))).not.toBeNull();
  expect(linkOf(here)).toBe("demo");
});
