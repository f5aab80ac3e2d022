import { ask, OFTEN_MS, SELDOM_MS } from "./ask.ts";
import { el, fill } from "./dom.ts";
import { Following } from "./following.ts";
import type { Live, Log, LogParts } from "./live.ts";
import { plain } from "./words.ts";

/** So many logs can be followed at once. */
const MOST_LOGS = 32;

const section = document.getElementById("log");
const form = document.getElementById("log-form");
let kind: Live["logs"];
let tasksShown: readonly string[] = [];
/** The logs of the viewer's last choice; answers to an earlier choice are dropped. */
let followed = new Following("");
let timer = 0;

/** While the job runs, logs as they grow; after its end, what nodes have stored. */
export function offerLog({ logs, tasks }: Live): void {
  if (section === null || logs === undefined) return;
  kind = logs;
  section.hidden = false;
  const rows = tasks?.rows ?? [];
  tasksShown = rows.map(({ task }) => task);
  const task = field("task");
  if (task === undefined || task.value !== "") return;
  const first = rows.find(({ state }) => state === "failed") ?? rows[0];
  task.value = logs === "live" ? "all" : (first?.task ?? "am");
  offerTasks(logs === "live" ? ["all", ...tasksShown, "am"] : []);
}

/** Chooses the log of the task that the viewer looks at. */
export function chooseLog(name: string): void {
  const task = field("task");
  if (task === undefined || name === "") return;
  task.value = name;
  begin();
}

function field(name: string): HTMLInputElement | HTMLSelectElement | undefined {
  const found = form?.querySelector(`[name=${name}]`);
  return found instanceof HTMLInputElement || found instanceof HTMLSelectElement ? found : undefined;
}

function offerTasks(tasks: readonly string[]): void {
  fill(
    "log-tasks",
    tasks.slice(0, 1_000).map((task) => el("option", { value: task }, [])),
  );
}

function begin(): void {
  if (!(form instanceof HTMLFormElement && section instanceof HTMLDetailsElement && section.open)) return;
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") query.set(name, value);
  followed = new Following(query.toString());
  fill("log-place", ["The log is being read …"]);
  if (kind === "live") void follow(followed, OFTEN_MS);
  else void readStored(followed);
}

async function readStored(mine: Following): Promise<void> {
  try {
    const log = await ask<Log>(`api/v1/logs?${mine.query}`);
    if (mine === followed) showStored(log);
  } catch {
    if (mine === followed) fill("log-place", ["The portal does not answer: it may have been ended."]);
  }
}

function showStored({ error, tasks = [], lines = [], isCut, missingBytes = 0 }: Log): void {
  const lost = missingBytes === 0 ? "" : `; ${missingBytes} bytes of it are lost`;
  const found = lines.length === 0 ? "no such line" : `${isCut === true ? "the last " : ""}${lines.length} lines`;
  fill("log-place", [error ?? `${found}${lost}`]);
  offerTasks([...tasks, "am"]);
  showLines(lines.map(({ line }) => line));
}

/** Sends one request for all followed logs, and the next one when it is time; none while the page is hidden. */
async function follow(mine: Following, pauseMs: number): Promise<void> {
  clearTimeout(timer);
  if (document.hidden || mine !== followed || !(section instanceof HTMLDetailsElement && section.open)) return;
  const choice = new URLSearchParams(mine.query);
  const [task = "", stream = "", text = ""] = ["task", "stream", "text"].map((name) => choice.get(name)?.trim());
  const streams = stream === "" && task !== "am" ? ["stdout", "stderr"] : [stream || "stdout"];
  const tasks = task === "all" ? tasksShown.slice(0, MOST_LOGS / streams.length) : [task];
  const wanted = tasks.flatMap((one) => streams.map((name) => mine.wanted(one, name)));
  let isNew = false;
  try {
    const { parts = [], error } = await ask<LogParts>(`api/v1/logs?of=${wanted.join(",")}`);
    if (mine !== followed) return;
    for (const part of parts) isNew = mine.take(part, tasks.length === 1, text) || isNew;
    const most = Number(choice.get("tail"));
    mine.lines.splice(0, mine.lines.length - most);
    const [trouble] = parts.flatMap((part) => part.trouble ?? []);
    const some =
      tasks.length < tasksShown.length && task === "all" ? `, of ${tasks.length} tasks of the table above` : "";
    fill("log-place", [error ?? trouble ?? `${mine.lines.length} lines, as they come${some}`]);
    if (isNew || mine.lines.length === 0) showLines(mine.lines);
  } catch {
    if (mine === followed) fill("log-place", ["No answer: the job may have ended, or the connection is broken."]);
  }
  const nextMs = isNew ? OFTEN_MS : Math.min(2 * pauseMs, SELDOM_MS);
  if (mine === followed) timer = setTimeout(() => void follow(mine, nextMs), nextMs);
}

/** A viewer who has scrolled up stays at that position. */
function showLines(lines: readonly string[]): void {
  const text = lines.join("\n");
  const place = document.querySelector("#log-lines pre");
  if (place === null || text === "") {
    const attributes = { tabindex: "0", role: "region", "aria-label": "Lines of the log" };
    fill("log-lines", text === "" ? [] : [el("pre", attributes, [text])]);
    return;
  }
  const isAtEnd = place.scrollTop + place.clientHeight >= place.scrollHeight - 5;
  place.textContent = plain(text);
  if (isAtEnd) place.scrollTop = place.scrollHeight;
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  begin();
});
section?.addEventListener("toggle", begin);
document.addEventListener("visibilitychange", () => void follow(followed, OFTEN_MS));
