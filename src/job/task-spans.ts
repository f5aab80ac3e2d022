/** `worker:0 to worker:2, worker:5, ps:0` */
export function taskSpans(tasks: readonly string[]): string {
  const spans: string[][] = [];
  for (const task of tasks) {
    const last = spans.at(-1);
    if (last !== undefined && task === following(last.at(-1) ?? "")) last.push(task);
    else spans.push([task]);
  }
  return spans.map((span) => (span.length < 3 ? span.join(", ") : `${span[0]} to ${span.at(-1)}`)).join(", ");
}

function following(task: string): string {
  const colon = task.lastIndexOf(":");
  return `${task.slice(0, colon)}:${Number(task.slice(colon + 1)) + 1}`;
}
