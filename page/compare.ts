import type { ComparedChart, ComparedJob, ComparedRole, Comparison } from "../src/page/portal-answers.ts";
import { inOrder, quantity } from "./charts.ts";
import { el, fill, restore, svg } from "./dom.ts";
import { amount, moment, queued, size, span } from "./words.ts";

type Two<T> = readonly [T, T];

const WIDTH = 300;
const HEIGHT = 80;

const form = document.getElementById("which");

/** The jobs are part of the page's address, so that a comparison can be shared. */
async function ask(): Promise<void> {
  const query = new URLSearchParams(location.search);
  const [a, b] = [query.get("a") ?? "", query.get("b") ?? ""];
  if (a === "" || b === "") return;
  say("The histories of both are being read …");
  try {
    const response = await fetch(`api/v1/compare?${new URLSearchParams({ a, b })}`, { cache: "no-store" });
    const answer: Comparison | { readonly error: string } = await response.json();
    if ("error" in answer) say(answer.error);
    else {
      show(answer);
      say("");
    }
  } catch {
    say("The portal does not answer: it may have been ended.");
  }
}

function say(words: string): void {
  fill("trouble", [words]);
}

function show({ jobs, settings, moreSettings, roles, charts }: Comparison): void {
  document.getElementById("comparison")?.toggleAttribute("hidden", false);
  fill("outcomes", [head(jobs), el("tbody", {}, [...outcomes(jobs), ...roles.flatMap(roleRows)])]);
  const none = settings === undefined ? "The history of one has no settings." : "All settings are the same.";
  const more = moreSettings === 0 ? "" : `There are ${moreSettings} more.`;
  fill("settings-note", [settings === undefined || settings.length === 0 ? none : more]);
  const rows = (settings ?? []).map(({ key, of }) => row(key, [of[0] ?? "–", of[1] ?? "–"], "cause"));
  fill("settings", rows.length === 0 ? [] : [head(jobs), el("tbody", {}, rows)]);
  fill("charts", charts.length === 0 ? [el("p", {}, ["Neither has series."])] : inOrder(charts).map(figure));
}

function head(jobs: Two<ComparedJob>): Element {
  const cells = jobs.map(({ applicationId, name }) =>
    el("th", { scope: "col", class: "cause" }, [
      el("a", { href: `jobs/${applicationId}/` }, [applicationId]),
      ` ${name}`,
    ]),
  );
  return el("thead", {}, [el("tr", {}, [el("td", {}, []), ...cells])]);
}

function outcomes(jobs: Two<ComparedJob>): Element[] {
  const rows: [string, (job: ComparedJob) => string][] = [
    ["state", ({ state }) => state],
    ["root cause", ({ cause = "" }) => cause],
    ["user", ({ user }) => user],
    ["queue", ({ queue }) => queue],
    ["began", ({ startedAtMs }) => moment(startedAtMs)],
    ["took", ({ tookMs }) => span(tookMs)],
    ["queued before", ({ submittedAtMs, startedAtMs }) => queued(submittedAtMs, startedAtMs)],
    ["until its programs ran", ({ waitedMs }) => (waitedMs === undefined ? "" : span(waitedMs))],
    ["generations", ({ generations }) => String(generations)],
    ["GiB·h", ({ usage }) => amount(usage.memoryMiBSeconds / 1024 / 3600)],
    ["core·h", ({ usage }) => amount(usage.vcoreSeconds / 3600)],
    ["GPU·h", ({ usage }) => (usage.gpuSeconds === undefined ? "" : amount(usage.gpuSeconds / 3600))],
    ["cost", ({ usage: { cost } }) => (cost === undefined ? "" : `${amount(cost.amount)} ${cost.currency ?? ""}`)],
  ];
  return rows.flatMap(([title, words]) => {
    const cells: Two<string> = [words(jobs[0]), words(jobs[1])];
    return cells.every((cell) => cell === "") ? [] : [row(title, cells, "cause")];
  });
}

function roleRows({ name, of }: Comparison["roles"][number]): Element[] {
  const rows: [string, (role: ComparedRole) => string][] = [
    ["tasks", ({ instances }) => String(instances)],
    [
      "memory",
      ({ maxMemoryBytes, memoryMiB }) =>
        `${maxMemoryBytes === undefined ? "" : `${size(maxMemoryBytes)} at most, of `}${size(memoryMiB * 1024 ** 2)}`,
    ],
    [
      "cores",
      ({ meanCores, vcores }) => `${meanCores === undefined ? "" : `${amount(meanCores)} on average, of `}${vcores}`,
    ],
    ["GPU", ({ meanGpu }) => (meanGpu === undefined ? "" : `${amount(meanGpu)} % on average`)],
  ];
  return rows.flatMap(([title, words]) => {
    const cell = (role: ComparedRole | null) => (role === null ? "–" : words(role));
    const cells: Two<string> = [cell(of[0]), cell(of[1])];
    return cells.every((one) => one === "" || one === "–") ? [] : [row(`${name}: ${title}`, cells, "")];
  });
}

/** Differences are marked by more than colour. */
function row(title: string, cells: Two<string>, kind: string): Element {
  const differs = cells[0] !== cells[1];
  return el("tr", { class: differs ? "differs" : "" }, [
    el("th", { scope: "row" }, [title]),
    ...cells.map((cell) => el("td", { class: kind }, [cell])),
  ]);
}

function figure({ name, axis, of }: ComparedChart): Element {
  const points = of.flatMap((line) => line?.points ?? []).filter(([, y]) => y !== null);
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y ?? 0)];
  const [left, right, lowest, high] = [least(xs), most(xs), least(ys), most(ys)];
  const { title, words, fromLeast } = quantity(name);
  const low = fromLeast ? lowest : 0;
  const lasts = of.map((line, index) => {
    const last = line?.points.findLast(([, y]) => y !== null)?.[1];
    return `${index === 0 ? "one" : "other"} ${last === undefined || last === null ? "has none" : words(last)}`;
  });
  const ends = axis === "step" ? `steps ${left} to ${right}` : `${span(left * 1000)} to ${span(right * 1000)}`;
  const label = `${title}: last ${lasts.join(", ")}; between ${words(lowest)} and ${words(high)}, ${ends}`;
  const place = (x: number, y: number) =>
    `${(((x - left) / Math.max(right - left, 1e-12)) * WIDTH).toFixed(1)},${(HEIGHT - 2 - ((y - low) / Math.max(high - low, 1e-12)) * (HEIGHT - 4)).toFixed(1)}`;
  const lines = of.flatMap((line, index) =>
    pieces(line?.points ?? []).map((piece) => {
      const drawn = piece.map(([x, y]) => place(x, y));
      const kind = `line ${index === 0 ? "one" : "other"}`;
      return svg("polyline", {
        points: (drawn.length > 1 ? drawn : [...drawn, ...drawn]).join(" "),
        class: kind,
        fill: "none",
      });
    }),
  );
  const shape = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" };
  const drawing = svg("svg", { ...shape, role: "img", "aria-label": label }, lines);
  const scale = [ends, `${words(low)} to ${words(high)}`].map((text) => el("span", {}, [text]));
  return el("figure", {}, [
    el("figcaption", {}, [`${title}  ${lasts.join(", ")}`]),
    drawing,
    el("p", { class: "axis", "aria-hidden": "true" }, scale),
  ]);
}

function least(values: readonly number[]): number {
  return values.reduce((one, other) => Math.min(one, other), values[0] ?? 0);
}

function most(values: readonly number[]): number {
  return values.reduce((one, other) => Math.max(one, other), values[0] ?? 0);
}

/** Split at missing values. */
function pieces(points: readonly (readonly [number, number | null])[]): [number, number][][] {
  const found: [number, number][][] = [[]];
  for (const [x, y] of points)
    if (y === null) found.push([]);
    else found.at(-1)?.push([x, y]);
  return found.filter(({ length }) => length > 0);
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!(form instanceof HTMLFormElement)) return;
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") query.set(name, value.trim());
  history.replaceState(null, "", `?${query}`);
  void ask();
});
restore(form);
void ask();
