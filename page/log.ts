import { base } from "./base.ts";
import { el, fill } from "./dom.ts";
import type { Live, Log } from "./live.ts";

const section = document.getElementById("log");
const form = document.getElementById("log-form");
let asked = 0;

/** The portal has the logs of jobs that have ended. */
export function offerLog({ isFinal, status, tasks }: Live): void {
  if (section === null || isFinal !== true || status === undefined) return;
  section.hidden = false;
  const task = field("task");
  const rows = tasks?.rows ?? [];
  const first = rows.find(({ state }) => state === "failed") ?? rows[0];
  if (task !== undefined && task.value === "") task.value = first?.task ?? "am";
}

/** Of the task that the viewer looks at. */
export function chooseLog(name: string): void {
  const task = field("task");
  if (task === undefined || name === "") return;
  task.value = name;
  if (section instanceof HTMLDetailsElement && section.open) void ask();
}

function field(name: string): HTMLInputElement | undefined {
  const found = form?.querySelector(`[name=${name}]`);
  return found instanceof HTMLInputElement ? found : undefined;
}

async function ask(): Promise<void> {
  if (!(form instanceof HTMLFormElement)) return;
  const mine = ++asked;
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") query.set(name, value);
  fill("log-place", ["is read …"]);
  try {
    const response = await fetch(`${base(location.pathname)}api/v1/logs?${query}`, { cache: "no-store" });
    const log: Log = await response.json();
    if (mine === asked) show(log);
  } catch {
    if (mine === asked) fill("log-place", ["The portal does not answer: it may have been ended."]);
  }
}

function show({ error, tasks = [], lines = [], isCut, missingBytes = 0 }: Log): void {
  const lost = missingBytes === 0 ? "" : `; ${missingBytes} bytes of it are lost`;
  const found = lines.length === 0 ? "no such line" : `${isCut === true ? "the last " : ""}${lines.length} lines`;
  fill("log-place", [error ?? `${found}${lost}`]);
  fill(
    "log-tasks",
    [...tasks, "am"].slice(0, 1_000).map((task) => el("option", { value: task }, [])),
  );
  const text = lines.map(({ line }) => line).join("\n");
  const place = { tabindex: "0", role: "region", "aria-label": "Lines of the log" };
  fill("log-lines", text === "" ? [] : [el("pre", place, [text])]);
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  void ask();
});
section?.addEventListener("toggle", () => {
  if (section instanceof HTMLDetailsElement && section.open) void ask();
});
