import type { LogPart } from "./live.ts";

/** How much of a log is read when a viewer begins to follow it. */
const FIRST_BYTES = 16_384;

/** The state of the logs that a viewer follows. */
export class Following {
  readonly query: string;
  readonly lines: string[] = [];
  readonly #places = new Map<string, LogPart>();

  constructor(query: string) {
    this.query = query;
  }

  /** `worker:0~stdout~1024`: the position to read from. */
  wanted(task: string, stream: string): string {
    const { next = -FIRST_BYTES } = this.#places.get(`${task}~${stream}`) ?? {};
    return `${task}~${stream}~${next}`;
  }

  /** @returns whether it adds anything */
  take(part: LogPart, isAlone: boolean, text: string): boolean {
    const id = `${part.task}~${part.stream}`;
    const before = this.#places.get(id);
    const isElsewhere = before?.containerId !== undefined && before.containerId !== part.containerId;
    this.#places.set(id, isElsewhere ? { ...part, next: 0 } : part);
    if (isElsewhere) return this.#add([`${part.task} | (goes on in another container)`]);
    const lost = part.missingBytes === 0 ? [] : [`(${part.missingBytes} bytes of it are gone)`];
    const own = part.text.split(/\r\n|\n|\r/).slice(0, /[\r\n]$/.test(part.text) ? -1 : undefined);
    const words = part.task === "am" ? own.map(masterWords) : own;
    const shown = part.text === "" ? [] : words.filter((line) => line.includes(text));
    return this.#add([...lost, ...shown].map((line) => (isAlone ? line : `${part.task} | ${line}`)));
  }

  #add(lines: readonly string[]): boolean {
    this.lines.push(...lines);
    return lines.length > 0;
  }
}

/** A line of the ApplicationMaster's log, which is JSON. */
function masterWords(line: string): string {
  try {
    const { level, message }: { readonly level?: unknown; readonly message?: unknown } = JSON.parse(line);
    return typeof message === "string" ? `${String(level).padEnd(5)}  ${message}` : line;
  } catch {
    return line;
  }
}
