import { gpusOf } from "../src/job/gpus.ts";
import { adviceNote, offerAdvice } from "./advice.ts";
import { ask as askFor, listen, OFTEN_MS, SELDOM_MS } from "./ask.ts";
import { base } from "./base.ts";
import { drawCharts } from "./charts.ts";
import { offerConfig } from "./config.ts";
import { el, fill, link, scrollByKeyboard } from "./dom.ts";
import type { Feed, Job, Live, Outcome, Search, Status, TaskRow, View } from "./live.ts";
import { chooseLog, offerLog } from "./log.ts";
import { drawTimeline } from "./timeline.ts";
import { amount, moment, queued, silence, size, span } from "./words.ts";

const ROWS = 50;

const columns = [
  ["task", "task"],
  ["host", "host"],
  ["state", "state"],
  ["restarts", "restarts"],
  ["step", "step"],
  ["rate", "rate"],
  ["cpu", "cores"],
  ["memory", "memory"],
] as const;
/** Shown where a task has a GPU. */
const gpuColumn = ["gpu", "GPU"] as const;

/** The viewer's choice; an answer to an earlier choice is dropped. */
const view: View = { from: 0, sort: "task", descending: false, filter: "", task: "" };
let shown: Live | undefined;
/** The revision that is shown; 0 for a new choice, whose answer may have the same revision. */
let since = 0;
let pauseMs = OFTEN_MS;
let timer = 0;
let asked = 0;
/** Nobody is left to answer requests. */
let isClosed = false;
/** The stream of pushed events. */
let stream = new AbortController();
/** Unchanged events are not redrawn, so that a selection in them stays. */
let eventsShown = "";
/** The task or role whose charts are shown. */
let charted = "";

function queryOf(): string {
  const { from, sort, descending, filter, task } = view;
  const plain = filter.replaceAll(/[^A-Za-z0-9_.~,:-]/g, "");
  const fields = { since, from, count: ROWS, sort, order: descending ? "down" : "up", filter: plain, task };
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** Sends one request, and the next one when it is time, or follows the stream while there is one; nothing while the page is hidden. */
async function ask(): Promise<void> {
  clearTimeout(timer);
  stream.abort();
  const mine = ++asked;
  if (document.hidden || isClosed) return;
  const take = (live: Live) => {
    if (mine === asked) takeAnswer(live);
    return live;
  };
  stream = new AbortController();
  const slow = setTimeout(() => shown === undefined && say("No answer yet: HDFS may be slow."), OFTEN_MS);
  try {
    await listen(`api/v1/stream?${queryOf()}`, take, stream.signal);
    if (mine !== asked || isClosed) return;
    const { isFinal } = take(await askFor<Live>(`api/v1/live?${queryOf()}`));
    // An ended job does not change; a new choice of the viewer's is requested again.
    if (mine !== asked || isFinal === true) return;
  } catch {
    if (mine !== asked) return;
    pauseMs = Math.min(2 * pauseMs, SELDOM_MS);
    say(noAnswer());
  } finally {
    clearTimeout(slow);
  }
  timer = setTimeout(() => void ask(), pauseMs);
}

function noAnswer(): string {
  const why = "No answer: the job has ended, its ApplicationMaster is being replaced, or the connection is broken.";
  if (location.pathname !== "/") return `${why} The page keeps asking; reload it to see what YARN knows of the job.`;
  // The command that serves the page has ended with the job, and nothing is left to load it from.
  const id = shown?.job?.applicationId ?? "ID";
  return `${why} The page keeps asking; tony-ts status ${id} shows how the job is, or how it ended.`;
}

function takeAnswer(live: Live): void {
  pauseMs = live.job === undefined ? Math.min(2 * pauseMs, SELDOM_MS) : OFTEN_MS;
  if (live.job !== undefined) show(live);
  else if (shown === undefined && live.error !== undefined)
    fill("head", [backLink(), el("h1", {}, ["No job to show"])]);
  isClosed = live.isClosed === true;
  say(live.error ?? "");
}

function changed(change: Partial<View>): void {
  Object.assign(view, change);
  since = 0;
  pauseMs = OFTEN_MS;
  void ask();
}

function say(words: string): void {
  const place = document.getElementById("trouble");
  if (place !== null && place.textContent !== words) place.textContent = words;
}

function show(live: Live): void {
  shown = live;
  since = live.rev;
  const { job, mayLook, running } = live;
  if (job === undefined) return;
  document.title = `${job.name} – ${job.state}`;
  const state = live.status?.state ?? job.state;
  fill("head", [
    backLink(),
    el("h1", {}, [job.name, " ", el("span", { class: `state ${state}` }, [state])]),
    el("p", {}, [[...timesOf(job, live), ...heldBy(live.status), ...masterOf(job, live.status)].join(" · ")]),
    mayLook === true
      ? ""
      : el("p", { class: "note" }, [
          "This is what YARN shows everyone. Those who may see the job see its tasks, waits, charts and logs with ",
          el("code", {}, [`tony-ts page ${job.applicationId}`]),
          " on their own machine.",
        ]),
    running === undefined
      ? ""
      : el("p", { class: "note" }, [
          `The job is running; this is what its history has so far. ${running.trouble}. `,
          link(running.url, "Its page at YARN"),
        ]),
  ]);
  showJob(live);
  offerAdvice(live);
  showTasks(live);
  showCharts(live);
  showEvents(live);
  offerLog(live);
  offerConfig(live);
  // Only the portal has other jobs.
  if (live.isFinal === true) document.getElementById("compare")?.toggleAttribute("hidden", false);
}

/** Whether its ApplicationMaster has reported its state: for a job that YARN ended, and one that runs unseen, the history has only the beginning. */
function isTold(status: Status | undefined): status is Status {
  return status !== undefined && status.amHost !== "";
}

function timesOf(job: Job, { status, nowMs }: Live): string[] {
  const { applicationId, queue, user, startedAtMs } = job;
  const took = span((status?.outcome?.endedAtMs ?? nowMs) - startedAtMs);
  const waited = queued(status?.submittedAtMs, startedAtMs);
  return [
    applicationId,
    `queue ${queue}`,
    user,
    `since ${moment(startedAtMs)}, ${took}`,
    ...(waited === "" ? [] : [waited]),
  ];
}

/** For a job that YARN ended it is YARN's count. */
function heldBy(status: Status | undefined): string[] {
  if (status === undefined || (status.amHost === "" && status.outcome === undefined)) return [];
  const { held, cost } = status.use;
  return [`held ${held}`, ...(cost === undefined ? [] : [`cost ${cost}`])];
}

function masterOf({ attempt }: Job, status: Status | undefined): string[] {
  if (!isTold(status)) return [];
  const { generation, outcome, amHost } = status;
  return [`generation ${outcome?.cause?.generation ?? generation}`, `AM on ${amHost}, attempt ${attempt}`];
}

/** In the portal, the link to all jobs. */
function backLink(): HTMLElement | "" {
  return /\/jobs\/application_[^/]*(\/|$)/.test(location.pathname)
    ? el("p", {}, [el("a", { href: `${base(location.pathname)}../../` }, ["All jobs"])])
    : "";
}

function showJob({ job, status, waits = [], feeds = [], search, advice, nowMs }: Live): void {
  if (status === undefined || job === undefined) return;
  const { roles, services, checkpoint, outcome } = status;
  fill("job", [
    outcome === undefined ? "" : report(outcome),
    ...waits.map(({ what, sinceMs, reasons, remedy, endsAtMs, atEnd }) =>
      el("div", { class: "wait" }, [
        el("p", {}, [`waits for ${what}, ${span(nowMs - sinceMs)}`]),
        ...reasons.map((reason) => el("p", {}, [`why: ${reason}`])),
        remedy === undefined ? "" : el("p", {}, [`→ ${remedy}`]),
        endsAtMs === undefined ? "" : el("p", {}, [endWords(moment(endsAtMs), atEnd)]),
      ]),
    ),
    el("p", {}, [
      ...roles.flatMap(({ name, instances, running, ended }, index) => [
        index === 0 ? "" : " · ",
        choice(name),
        roleWords(status, search === undefined, { instances, running, ended }),
      ]),
      checkpoint === undefined ? "" : ` · checkpoint of step ${checkpoint.step}`,
    ]),
    services.length === 0
      ? ""
      : el(
          "p",
          {},
          services.flatMap(({ name, url, task }) => [link(url, name), ` of ${task} `]),
        ),
    advice === undefined
      ? ""
      : adviceNote(advice, advice.runs === 1 ? "Advice" : `Advice by ${advice.runs} runs of this name`),
    ...feeds.map(feedBar),
    search === undefined ? "" : board(search, job.applicationId),
    search === undefined ? drawTimeline({ ...status, startedAtMs: job.startedAtMs, nowMs }) : "",
  ]);
}

/** A search's roles count the tasks of all its trials, of which few run at once. */
function roleWords(
  status: Status,
  areAtOnce: boolean,
  { instances, running, ended }: Pick<Status["roles"][number], "instances" | "running" | "ended">,
): string {
  if (!areAtOnce) return "";
  return isTold(status) ? ` ${running} of ${instances} running, ${ended} ended` : ` × ${instances}`;
}

function endWords(time: string, atEnd?: string): string {
  return atEnd === undefined ? `until ${time} at the latest` : `at ${time} ${atEnd}`;
}

function feedBar({ name, used, leftOut, splits, lines }: Feed): HTMLElement {
  const bar = { max: String(Math.max(splits, 1)), value: String(used + leftOut), "aria-label": `feed ${name}` };
  return el("div", { class: leftOut > 0 ? "wait" : "" }, [
    el("progress", bar, []),
    ...lines.map((line) => el("p", {}, [line])),
  ]);
}

function board({ metric, rules = "", space, counts, idle = "", best, begun, trials }: Search, id: string): HTMLElement {
  const head = ["trial", "state", metric, "step", "parameters", "task", "why"];
  return el("div", { class: "wide" }, [
    el("h2", {}, ["Search"]),
    el("p", {}, [rules]),
    el("p", {}, [best === undefined ? "" : `best so far: ${best}`]),
    el("p", {}, [counts]),
    el("p", {}, [idle]),
    el("p", { id: "space" }, [space.map(({ name, values }) => `${name}: ${values}`).join(" · ")]),
    el("table", {}, [
      el("thead", {}, [
        el(
          "tr",
          {},
          head.map((title) => el("th", { scope: "col" }, [title])),
        ),
      ]),
      el(
        "tbody",
        { id: "trials" },
        trials.map(({ number, state, value, step, params, task, why = "" }) =>
          el("tr", {}, [
            el("th", { scope: "row" }, [String(number)]),
            el("td", { class: `state ${state}` }, [state]),
            ...[value, step === undefined ? "" : String(step), params].map((text) => el("td", {}, [text])),
            el("td", {}, [choice(task)]),
            el("td", { class: "cause" }, [why]),
          ]),
        ),
      ),
    ]),
    begun === trials.length
      ? ""
      : el("p", {}, [`${trials.length} of ${begun}; all of them: `, el("code", {}, [`tony-ts trials ${id}`])]),
  ]);
}

/** Why the job ended: the root cause with its last lines, and the remedy. */
function report({ summary, rule, cause }: Outcome): HTMLElement {
  if (cause === undefined) return el("p", { class: "outcome" }, [summary]);
  const { remedy, lines, consequences, atMs } = cause;
  return el("div", { class: "outcome" }, [
    el("p", {}, [`Root cause: ${cause.summary}, ${moment(atMs)}`]),
    remedy === undefined ? "" : el("p", {}, [`→ ${remedy}`]),
    lines.length === 0
      ? ""
      : el("pre", { tabindex: "0", role: "region", "aria-label": "Last lines" }, [lines.join("\n")]),
    ...consequences.map((consequence) => el("p", {}, [`Then ${consequence}`])),
    rule === undefined ? "" : el("p", {}, [`No restart: ${rule}`]),
  ]);
}

/** The controls are kept, so that nobody loses typed text or the position. */
function showTasks({ tasks, status }: Live): void {
  const section = document.getElementById("tasks");
  if (tasks === undefined || section === null) return;
  section.hidden = false;
  const hasGpus = tasks.rows.some(({ gpu }) => gpu !== undefined) || (status?.roles ?? []).some(asksForGpus);
  const limits = new Map((status?.roles ?? []).map(({ name, memoryMiB }) => [name, memoryMiB * 1024 ** 2]));
  fill(
    "columns",
    [...columns, ...(hasGpus ? [gpuColumn] : [])].map(([column, title]) => heading(column, title)),
  );
  fill(
    "rows",
    tasks.rows.map((row) => rowOf(row, limits, hasGpus)),
  );
  const last = tasks.from + tasks.rows.length;
  const some = tasks.matching === tasks.all ? `${tasks.all}` : `${tasks.matching} (${tasks.all} in all)`;
  fill("place", [`${tasks.rows.length === 0 ? 0 : tasks.from + 1} to ${last} of ${some}`]);
  for (const [id, isThere] of [
    ["back", tasks.from > 0],
    ["on", last < tasks.matching],
  ] as const)
    document.getElementById(id)?.toggleAttribute("disabled", !isThere);
}

function heading(column: View["sort"], title: string): HTMLElement {
  const isSorted = view.sort === column;
  const button = el("button", { type: "button", id: `by-${column}` }, [title]);
  button.addEventListener("click", () =>
    changed({ sort: column, descending: isSorted ? !view.descending : column !== "task", from: 0 }),
  );
  const sorted = isSorted ? (view.descending ? "descending" : "ascending") : "none";
  return el("th", { scope: "col", "aria-sort": sorted }, [button]);
}

/** The button of a task or a role: shows its charts and its log. */
function choice(what: string): HTMLElement {
  const button = el("button", { type: "button", class: "choice", "aria-pressed": String(view.task === what) }, [what]);
  button.addEventListener("click", () => {
    changed({ task: view.task === what ? "" : what });
    if (what.includes(":")) chooseLog(view.task);
  });
  return button;
}

function asksForGpus({ others = {} }: Status["roles"][number]): boolean {
  return gpusOf(others) > 0;
}

function rowOf(row: TaskRow, limits: ReadonlyMap<string, number>, hasGpus: boolean): HTMLElement {
  const {
    task,
    host = "",
    state,
    restarts,
    exit,
    step,
    rate,
    cpuCores,
    memoryBytes,
    maxMemoryBytes,
    gpu,
    metrics,
  } = row;
  const limit = limits.get(task.replace(/:\d+$/, ""));
  const used = memoryBytes ?? maxMemoryBytes;
  const slow = rate !== undefined && rate < 0.75;
  const reported = Object.entries(metrics ?? {}).map(([name, value]) => `${name} ${amount(value)}`);
  return el("tr", { class: slow ? "slow" : "" }, [
    el("th", { scope: "row" }, [choice(task)]),
    el("td", {}, [host]),
    el("td", { class: `state ${state}` }, [exit === undefined ? state : `${state} (${exit})`]),
    el("td", {}, [restarts === 0 ? "" : String(restarts)]),
    el("td", {}, [step === undefined ? "" : String(step), reported.length === 0 ? "" : ` · ${reported.join(" · ")}`]),
    el("td", {}, [rate === undefined ? "" : `${Math.round(rate * 100)} %${slow ? " slow" : ""}`]),
    el("td", {}, [cpuCores === undefined ? "" : amount(cpuCores)]),
    el("td", {}, [used === undefined ? "" : `${size(used)}${limit === undefined ? "" : ` of ${size(limit)}`}`]),
    hasGpus ? el("td", {}, [gpu === undefined ? "" : `${Math.round(gpu)} %`]) : "",
  ]);
}

function showCharts({ chart, status }: Live): void {
  const role = chart?.task.replace(/:\d+$/, "");
  const limit = (status?.roles.find(({ name }) => name === role)?.memoryMiB ?? 0) * 1024 ** 2;
  const missing = chart === undefined ? "" : silence(chart.series);
  const remark = missing === "" ? [] : [el("p", {}, [missing])];
  const how =
    chart?.task === role
      ? [el("p", { class: "how" }, ["all of its tasks: the most memory, the least step, the mean of all else"])]
      : [];
  fill(
    "charts",
    chart === undefined ? [] : [el("h2", {}, [chart.task]), ...how, ...remark, ...drawCharts(chart, limit)],
  );
  if (chart !== undefined && chart.task !== charted) bringIntoView("charts");
  charted = chart?.task ?? "";
}

/** A viewer who has scrolled down a long table is taken to what was chosen. */
function bringIntoView(id: string): void {
  const place = document.getElementById(id);
  const { top = 0 } = place?.getBoundingClientRect() ?? {};
  if (top < 0 || top >= innerHeight) place?.scrollIntoView();
}

function showEvents({ events = [] }: Live): void {
  const section = document.getElementById("events");
  const words = JSON.stringify(events);
  if (section === null || words === eventsShown) return;
  eventsShown = words;
  section.hidden = events.length === 0;
  fill(
    "event-rows",
    events.map(({ atMs, generation, task = "", text }) =>
      el("tr", {}, [
        el("td", {}, [moment(atMs)]),
        el("td", {}, [String(generation)]),
        el("td", {}, [task]),
        el("td", { class: "cause" }, [text]),
      ]),
    ),
  );
}

function onClick(id: string, act: () => void): void {
  document.getElementById(id)?.addEventListener("click", act);
}

onClick("back", () => changed({ from: Math.max(0, (shown?.tasks?.from ?? 0) - ROWS) }));
onClick("on", () => changed({ from: (shown?.tasks?.from ?? 0) + ROWS }));
const filter = document.getElementById("filter");
filter?.addEventListener("input", () => {
  if (filter instanceof HTMLInputElement) changed({ filter: filter.value, from: 0 });
});
const compare = document.getElementById("compare");
compare?.addEventListener("submit", (event) => {
  event.preventDefault();
  const other = compare.querySelector("input")?.value.trim() ?? "";
  const query = new URLSearchParams({ a: shown?.job?.applicationId ?? "", b: other });
  location.assign(`${base(location.pathname)}../../compare?${query}`);
});
document.addEventListener("visibilitychange", () => void ask());
addEventListener("hashchange", () => changed({}));
scrollByKeyboard();
void ask();
