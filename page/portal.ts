import type { JobRow, JobsAnswer, UseAnswer } from "../src/page/portal-answers.ts";
import { el, fill, restore, scrollByKeyboard } from "./dom.ts";
import { showUse } from "./use.ts";
import { amount, moment, queued, span } from "./words.ts";

const OFTEN_MS = 5_000;
const SELDOM_MS = 30_000;
const ROWS = 50;
const DAY_MS = 24 * 3_600_000;
const DAY = /^\d{4}-\d\d-\d\d$/;
/** After this wait the page says that there is no answer yet. */
const SLOW_MS = 5_000;

const filters = document.getElementById("filters");
const use = document.getElementById("use");
const chosen = new Set<string>();
let from = 0;
let timer = 0;
let asked = 0;

/** The filters are part of the page's address, so that a list can be shared. */
function filled(): URLSearchParams {
  const query = new URLSearchParams();
  if (!(filters instanceof HTMLFormElement)) return query;
  for (const [name, value] of new FormData(filters))
    if (typeof value === "string" && value !== "") query.set(name, value);
  return query;
}

/** The query as the address has it, so that a mistake in it is reported. */
function queryOf(): URLSearchParams {
  const query = new URLSearchParams(location.search);
  for (const [name, laterMs] of [
    ["since", 0],
    ["until", DAY_MS - 1],
  ] as const) {
    const day = query.get(name) ?? "";
    // Days are in the viewer's time zone.
    if (DAY.test(day)) query.set(name, String(new Date(`${day}T00:00`).getTime() + laterMs));
  }
  query.set("from", String(from));
  query.set("count", String(ROWS));
  return query;
}

/** Sends one request, and the next one when it is time; none while the page is hidden. */
async function ask(): Promise<void> {
  clearTimeout(timer);
  if (document.hidden) return;
  const mine = ++asked;
  let pauseMs = SELDOM_MS;
  const slow = setTimeout(() => say("No answer yet: the portal is busy, or waits for HDFS."), SLOW_MS);
  try {
    const response = await fetch(`api/v1/jobs?${queryOf()}`, { cache: "no-store" });
    const jobs: JobsAnswer | { readonly error: string } = await response.json();
    if (mine !== asked) return;
    if ("error" in jobs) say(jobs.error);
    else {
      show(jobs);
      if (use instanceof HTMLDetailsElement && use.open) await askUse(mine);
      if (!jobs.scan.isComplete) pauseMs = OFTEN_MS;
      say(troubleOf(jobs));
    }
  } catch {
    if (mine !== asked) return;
    say("The portal does not answer: it may have been ended.");
  } finally {
    clearTimeout(slow);
  }
  timer = setTimeout(() => void ask(), pauseMs);
}

async function askUse(mine: number): Promise<void> {
  const response = await fetch(`api/v1/use?${queryOf()}`, { cache: "no-store" });
  const uses: UseAnswer = await response.json();
  if (mine === asked) showUse(uses);
}

function troubleOf({ scan, nowMs }: JobsAnswer): string {
  const {
    isComplete,
    restored = 0,
    read,
    folders,
    atMs,
    trouble,
    yarnTrouble,
    keepTrouble,
    emptyPlaces,
    unreadable,
  } = scan;
  if (trouble !== undefined) {
    const since = atMs === 0 ? "The history cannot be read" : `What is shown is ${span(nowMs - atMs)} old`;
    return `${since}: ${trouble}`;
  }
  if (!isComplete && restored > 0)
    return "The history is being scanned: until then this list is as an earlier portal had read it.";
  if (!isComplete)
    return `The history is being read: ${read} of the ${folders} jobs found so far. Others are still missing.`;
  if (yarnTrouble !== undefined)
    return `The ResourceManager does not say which jobs still run, so that some that it ended may be shown as running: ${yarnTrouble}`;
  const [first] = unreadable;
  if (first === undefined)
    return emptyPlaces === undefined
      ? keepTrouble === undefined
        ? ""
        : `What is read is not kept for the portal's next start: ${keepTrouble}`
      : `No job is in ${emptyPlaces.join(", nor in ")}. Jobs are there once they run with tony.history.location.`;
  return `The history of ${unreadable.length} ${unreadable.length === 1 ? "job" : "jobs"} cannot be read: ${first.why}`;
}

function show({ rows, matching, total, nowMs, ...jobs }: JobsAnswer): void {
  // Placed below the rows: above them it would move them.
  use?.toggleAttribute("hidden", false);
  from = jobs.from;
  fill(
    "rows",
    rows.map((row) => rowOf(row, nowMs)),
  );
  const last = from + rows.length;
  const some = matching === total ? `${total}` : `${matching} (${total} in all)`;
  fill("place", [`${rows.length === 0 ? 0 : from + 1} to ${last} of ${some}`]);
  document.getElementById("back")?.toggleAttribute("disabled", from === 0);
  document.getElementById("on")?.toggleAttribute("disabled", last >= matching);
}

function rowOf(row: JobRow, nowMs: number): HTMLElement {
  const {
    applicationId,
    name,
    user,
    queue,
    state,
    startedAtMs,
    endedAtMs,
    tasks,
    cause = "",
    tags = [],
    writtenBy,
  } = row;
  const cells = [
    [name, [name, ...tags].join(" · ")],
    [user, user],
    [queue, queue],
  ] as const;
  return el("tr", {}, [
    el("td", {}, [chooser(applicationId)]),
    el("th", { scope: "row" }, [el("a", { href: `jobs/${applicationId}/` }, [applicationId])]),
    ...cells.map(([cell, title]) => el("td", { class: "name", title }, [cell])),
    el("td", { class: `state ${state}` }, [writtenBy === "TonY" ? `${state} (TonY)` : state]),
    el("td", {}, [moment(startedAtMs)]),
    el("td", {}, [
      state === "unknown" ? "" : span((endedAtMs ?? nowMs) - startedAtMs),
      below(queued(row.submittedAtMs, startedAtMs)),
    ]),
    el("td", {}, [String(tasks)]),
    el("td", {}, heldBy(row)),
    el("td", { class: "cause" }, [cause]),
  ]);
}

/** A detail below a value. */
function below(words: string): Element | "" {
  return words === "" ? "" : el("div", { class: "axis" }, [words]);
}

/** Empty for a job that has not ended: its history does not say. */
function heldBy({ usage: { memoryMiBSeconds, cost } }: JobRow): (string | Element)[] {
  if (memoryMiBSeconds === 0) return [];
  const costs = cost === undefined ? "" : `${amount(cost.amount)} ${cost.currency ?? ""}`;
  return [`${amount(memoryMiBSeconds / 1024 / 3600)} GiB·h`, below(costs)];
}

/** Two chosen jobs are compared. */
function chooser(applicationId: string): HTMLElement {
  const checked = chosen.has(applicationId) ? { checked: "checked" } : {};
  const box = el(
    "input",
    { type: "checkbox", id: `choose-${applicationId}`, "aria-label": `Compare ${applicationId}`, ...checked },
    [],
  );
  box.addEventListener("change", () => {
    if (!chosen.delete(applicationId)) chosen.add(applicationId);
    showChosen();
  });
  return box;
}

function showChosen(): void {
  const [a, b, ...others] = chosen;
  const isPair = a !== undefined && b !== undefined && others.length === 0;
  fill("compare", [
    isPair ? el("a", { href: `compare?${new URLSearchParams({ a, b })}` }, ["Compare the two chosen jobs"]) : "",
    chosen.size === 0 || isPair ? "" : `${chosen.size} chosen: choose two to compare them`,
  ]);
}

function say(words: string): void {
  const place = document.getElementById("trouble");
  if (place !== null && place.textContent !== words) place.textContent = words;
}

function turn(by: number): void {
  from = Math.max(0, from + by);
  void ask();
}

document.getElementById("back")?.addEventListener("click", () => turn(-ROWS));
document.getElementById("on")?.addEventListener("click", () => turn(ROWS));
filters?.addEventListener("submit", (event) => event.preventDefault());
filters?.addEventListener("input", () => {
  from = 0;
  history.replaceState(null, "", `?${filled()}`);
  void ask();
});
use?.addEventListener("toggle", () => void ask());
document.addEventListener("visibilitychange", () => void ask());
restore(filters);
scrollByKeyboard();
void ask();
