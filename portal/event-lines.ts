import type { HistoryEvent } from "../src/job/history-event.ts";
import { endingWords } from "../src/job/reasons/endings.ts";
import type { EventLine } from "../src/page/portal-answers.ts";

export function eventLine(event: HistoryEvent): EventLine {
  const { atMs, generation, task } = event;
  return { atMs, generation, ...(task === undefined ? {} : { task }), text: wordsOf(event) };
}

/** `task ended: exit 3, result failed` */
function wordsOf(event: HistoryEvent): string {
  if (event.type === "task-failed") return `task failed (${event.class}): ${endingWords(event.reason)}`;
  if (event.type === "job-ended") return `job ended (${event.result}): ${event.summary}`;
  const { type, atMs: _atMs, generation: _generation, task: _task, containerId: _containerId, ...facts } = event;
  const words = Object.entries(facts).map(([name, value]) => `${name} ${value}`);
  return [type.replaceAll("-", " "), ...(words.length === 0 ? [] : [words.join(", ")])].join(": ");
}
