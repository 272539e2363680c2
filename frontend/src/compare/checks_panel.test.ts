// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { figures } from "../testing/figures";
import { sample } from "../testing/sample_figures";
import { checkList, runList } from "./checks_panel";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("evidence", () => {
  it("shows errors first", () => {
    document.body.append(checkList(figures()));
    expect([...document.querySelectorAll("li")].map((item) => item.id)).toEqual([
      "check-errors",
      "check-same-host",
    ]);
  });

  it("leads from a finding to its trials and its section of the docs", () => {
    document.body.append(checkList(sample()));
    const warning = document.querySelector("#check-same-host");
    expect(warning?.querySelector('a[href="/docs/checks#same-host"]')).not.toBeNull();
    expect(warning?.querySelectorAll('a[href^="/t/"]').length).toBe(6);
    warning?.querySelector<HTMLElement>("button.link")?.click();
    expect(warning?.querySelectorAll('a[href^="/t/"]').length).toBe(9);
  });

  it("names the runs of an error, by which one finds what keeps a series unranked", () => {
    const shown = sample();
    const [error] = shown.checks.filter((check) => check.severity === "error");
    const run = shown.runs[0];
    if (!error || !run) throw new Error("the sample has no error or no run");
    const checks = shown.checks.map((check) =>
      check === error ? { ...check, runs: [run.id] } : check,
    );
    document.body.append(checkList({ ...shown, checks }));
    const link = document.querySelector(`#check-${error.id} a[href="${run.url}"]`);
    expect(link?.textContent).toBe(run.id.slice(0, 8));
  });

  it("links to no run and no trial where these are not shared with the reader", () => {
    const evidence = 'a[href^="/r/"], a[href^="/t/"]';
    const page = document.body.appendChild(document.createElement("div"));
    page.dataset.resultSet = "";
    page.append(checkList(sample()), runList(sample().runs));
    for (const more of page.querySelectorAll<HTMLElement>("button.link")) more.click();
    expect(page.querySelectorAll(evidence).length).toBe(0);
    expect(page.textContent).toContain(sample().runs[0]?.id.slice(0, 8));
    page.dataset.isMember = "";
    page.replaceChildren(runList(sample().runs));
    expect(page.querySelectorAll(evidence).length).toBe(sample().runs.length);
  });

  it("names the servers of a run with their versions, where these are known", () => {
    const run = { id: "0198c5a2", started_at: null, url: "/r/1", trials: 3 };
    const servers = ["caddy", "constructor"];
    const versions = { caddy: ["1.9", "1.10"] };
    document.body.append(
      runList([
        { ...run, servers, versions },
        { ...run, servers },
      ]),
    );
    const texts = [...document.querySelectorAll(".run-servers")].map((one) => one.textContent);
    expect(texts).toEqual(["caddy 1.9, 1.10 · constructor", "caddy · constructor"]);
  });

  it("has the order of the trust's reasons, so that its first three are those of the chip", () => {
    const reasons = [
      { text: "Noise hides it.", remedy: "Measure more." },
      { text: "Errors.", remedy: "Mend.", check: "errors" },
      { text: "The kernel differs.", remedy: "" },
    ];
    const answer = { sentence: "a", trust: { level: "care" as const, reasons } };
    document.body.append(checkList({ ...figures(), answer }));
    const heads = [...document.querySelectorAll(".check-head strong")].map((e) => e.textContent);
    expect(heads).toEqual(["Noise hides it.", "Errors", "The kernel differs.", "One host"]);
  });

  it("shows what was dismissed apart, with who and why", () => {
    document.body.append(checkList(sample()));
    const groups = [...document.querySelectorAll(".check-group")];
    expect(groups.map((one) => one.querySelector("h3")?.textContent)).toEqual([
      "Against this answer, the worst first2 checks",
      "Dismissedno caveats, still shown",
    ]);
    expect(groups[1]?.textContent).toContain("Warmed up by hand, see the notes");
    expect(groups[1]?.textContent).toContain("by mira on 2026-11-20 10:00 UTC");
  });

  it("offers to dismiss only who may, as a form to the run", () => {
    const { runs } = sample();
    document.body.append(checkList(sample()));
    expect(document.querySelector("form")).toBeNull();
    document.body.replaceChildren(checkList(sample(), { runs, token: "t" }));
    const form = document.querySelector("form");
    expect(form?.getAttribute("action")).toBe(`/r/${runs[0]?.id}/dismissals`);
    expect(form?.querySelector<HTMLInputElement>("[name=check]")?.value).toBe("errors");
    expect(form?.querySelector<HTMLInputElement>("[name=csrfmiddlewaretoken]")?.value).toBe("t");
  });

  it("offers members to take a dismissal back, in the run it was made in", () => {
    const { runs } = sample();
    document.body.append(checkList(sample()));
    expect(document.querySelector("form.undo")).toBeNull();
    document.body.replaceChildren(checkList(sample(), { runs, token: "t" }));
    const undo = document.querySelector<HTMLFormElement>("form.undo");
    expect(undo?.getAttribute("action")).toBe("/r/0198c5a2-77aa-7000-8000-000000000001/dismissals");
    const sent = Object.fromEntries(new FormData(undo ?? undefined));
    expect(sent).toEqual({
      csrfmiddlewaretoken: "t",
      check: "no-warm-up",
      next: location.pathname + location.search,
      undo: "1",
    });
  });

  it("never reads text as markup", () => {
    const check = { ...figures().checks[0], title: "<img src=x>" } as never;
    document.body.append(checkList(figures({ checks: [check] })));
    expect(document.querySelector("img")).toBeNull();
  });
});
