import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "@jest/globals";
import { createExecutorCore, executorCoreOf } from "../../../executor/core/core.ts";
import type { Effect } from "../../../executor/core/effects.ts";
import type { Event } from "../../../executor/core/events.ts";
import { suspendedMs } from "../../../executor/core/isolation.ts";
import type { MasterAddress, StagingNews } from "../../../executor/core/master.ts";
import type { MasterCommand } from "../../../src/api/messages.ts";

/**
 * What an executor decides, as it is told one thing after the other: each file of `transcripts` is some lives of an executor, told apart by
 * `==`. A line with `>` is what it is told; below it stands all that it does, and when it is to be woken.
 *
 *     REWRITE=1 npm run test:unit -- --testPathPatterns executor/core/transcripts
 *
 * writes the files anew: what has changed in them is to be read, for it is behaviour.
 */
const folder = path.join(import.meta.dirname, "transcripts");
const none = new Uint8Array();
const hello = { protocol: 1, build: "test" };

const COMMANDS: Readonly<Record<string, MasterCommand>> = {
  welcome: { type: "welcome", hello, heartbeatIntervalMs: 1_000, job: none, attemptProof: none },
  refuse: { type: "refuse", reason: "it is another job's", fatal: true },
  prepare: { type: "prepare", reason: "a task failed" },
  "stop-child": { type: "stop-child", graceMs: 0, reason: { code: "job-ended" } },
  "resume-child": { type: "resume-child" },
  "acknowledge-exit": { type: "acknowledge-exit" },
  "tell-place": { type: "tell-place" },
  "tail-credit": { type: "tail-credit", tailId: 1, bytes: 1 },
  exit: { type: "exit", graceMs: 0, reason: { code: "job-ended" } },
  "exit-replaced": { type: "exit", graceMs: 0, reason: { code: "replaced", why: "it lives elsewhere" } },
};

/** The effects that tries to connect have. */
const TRIES: readonly Effect["type"][] = ["connect", "register", "close"];

/** One life of an executor, and what is written of it. */
class Life {
  #core = createExecutorCore(addressOf(1), { orphanMs: 600_000, isolationMs: 60_000 });
  #nowMs = 0;
  #random = 0.5;
  #wakeAtMs: number | undefined;
  #isQuiet = false;
  readonly #written: string[] = [];
  /** In which absence it looked, each time. */
  readonly #looks: number[] = [];

  /** @returns the lines that stand below it */
  told(line: string): readonly string[] {
    this.#written.length = 0;
    const [word = "", ...rest] = line.split(" ");
    if (word === "chance") this.#random = Number(rest[0]);
    // Its tries to connect are left out.
    else if (word === "quiet") this.#isQuiet = true;
    else if (word === "pass") this.#pass(secondsIn(rest));
    else if (word === "sleep") this.#sleep(secondsIn(rest));
    else this.#post(this.#eventOf(word, rest));
    this.#writeWhatLasts();
    return this.#written;
  }

  #pass(durationMs: number): void {
    const untilMs = this.#nowMs + durationMs;
    for (let dueMs = this.#core.wakeAtMs; dueMs !== undefined && dueMs <= untilMs; dueMs = this.#core.wakeAtMs) {
      this.#nowMs = dueMs;
      const before = this.#written.push(`at ${seconds(dueMs)}`);
      this.#post({ type: "woken" });
      if (this.#written.length === before) this.#written.pop();
    }
    this.#nowMs = untilMs;
  }

  /** The process stands still. */
  #sleep(durationMs: number): void {
    this.#nowMs += durationMs;
    this.#post({ type: "woken" });
  }

  #post(event: Event): void {
    // A core that is stored and read again decides the same.
    this.#core = executorCoreOf(JSON.parse(JSON.stringify(this.#core.state)));
    const effects = this.#core.step(event, { nowMs: this.#nowMs, random: this.#random });
    this.#looks.push(...effects.flatMap((effect) => (effect.type === "look" ? [effect.absence] : [])));
    const told = this.#isQuiet ? effects.filter(({ type }) => !TRIES.includes(type)) : effects;
    this.#written.push(...told.flatMap(effectWords));
  }

  #eventOf(word: string, rest: readonly string[]): Event {
    const [first = "", second = "", third = "", fourth = "1"] = rest;
    switch (word) {
      case "begun":
      case "changed":
      case "ending":
      case "closing":
        return { type: word };
      case "program-started":
      case "program-ended":
        return { type: word, generation: Number(first) };
      case "limits":
        return { type: "limits", limits: { orphanMs: Number(first) * 1_000, isolationMs: Number(second) * 1_000 } };
      case "ended":
        return { type: "ended", connection: this.#connection(first), cause: "the stream ended" };
      case "called":
        return { type: "called", master: addressOf(Number(first), second) };
      // `looked replaced -1`: by the look before the last one; `looked 2@node-3`: attempt 2 is there
      case "looked": {
        const absence = this.#looks.at(Number(second || 0) - 1) ?? this.#core.state.absences;
        return { type: "looked", absence, news: newsOf(first) };
      }
      // `heard welcome 1 2 3`: over stream 1, from attempt 2, of generation 3; the executor is in generation 1
      case "heard": {
        const body = COMMANDS[first];
        if (body === undefined) throw new Error(`there is no ${first}`);
        const message = { attempt: Number(third), generation: Number(fourth), body };
        return { type: "message", connection: this.#connection(second), generation: 1, message };
      }
      default:
        throw new Error(`nobody tells an executor "${word}"`);
    }
  }

  /** By its number, or the one that is `trying` or `active`. */
  #connection(name: string): number {
    const { trying, active } = this.#core.state.link;
    return { trying, active }[name]?.id ?? Number(name);
  }

  #writeWhatLasts(): void {
    const { wakeAtMs, state } = this.#core;
    for (const { generation } of state.programs) {
      const untoldMs = suspendedMs(state, generation, this.#nowMs);
      if (untoldMs > 0) this.#written.push(`(program ${generation}: suspended for ${seconds(untoldMs)}, untold)`);
    }
    if (wakeAtMs !== this.#wakeAtMs && !this.#isQuiet)
      this.#written.push(wakeAtMs === undefined ? "sleeps" : `until ${seconds(wakeAtMs)}`);
    this.#wakeAtMs = wakeAtMs;
  }
}

function newsOf(found: string): StagingNews | undefined {
  if (found === "unreachable") return undefined;
  if (found === "replaced") return { isReplaced: true };
  const [attempt, address] = found.split("@");
  return found === "nothing"
    ? { isReplaced: false }
    : { isReplaced: false, master: addressOf(Number(attempt), address) };
}

function addressOf(attempt: number, address = `node-${attempt}`): MasterAddress {
  return { attempt, address: address || `node-${attempt}` };
}

function effectWords(effect: Effect): string[] {
  switch (effect.type) {
    case "connect":
      return [`connect ${effect.connection} to attempt ${effect.target.attempt} at ${effect.target.address}`];
    case "register":
    case "close":
      return [`${effect.type} ${effect.connection}`];
    case "joined":
      return [`joined attempt ${effect.message.attempt}`];
    case "obey":
      return [`obey ${effect.message.body.type}`];
    case "answer":
      return [effect.reply.accepted ? "answer yes" : `answer no: ${effect.reply.reason}`];
    case "suspend":
    case "resume":
      return [`${effect.type} ${effect.generation}`];
    case "orphaned":
      return [`orphaned for ${seconds(effect.silentMs)}`];
    case "hold-uploads":
      return [`${effect.type}: ${effect.why}`];
    case "refused":
      return [`${effect.type}: ${effect.reason}`];
    case "log":
      return effect.level === "debug" ? [] : [logWords(effect)];
    default:
      return [effect.type];
  }
}

function logWords({ level, event, message, fields }: Extract<Effect, { type: "log" }>): string {
  return `${level} ${event}: ${message}${fields === undefined ? "" : ` ${JSON.stringify(fields)}`}`;
}

function secondsIn([number]: readonly string[]): number {
  return Number(number) * 1_000;
}

function seconds(ms: number): string {
  return `${Math.round(ms) / 1_000} s`;
}

/** The text as the core writes it now. */
function retold(text: string): string {
  const kept = text.split("\n").filter((line) => line === "" || /^(>|#|==)/.test(line));
  let life = new Life();
  const lines = kept.flatMap((line) => {
    if (line.startsWith("==")) life = new Life();
    return line.startsWith(">") ? [line, ...life.told(line.slice(2)).map((one) => `    ${one}`)] : [line];
  });
  return lines.join("\n");
}

test.each(readdirSync(folder))("an executor decides as it stands in %s", (name) => {
  const file = path.join(folder, name);
  const text = readFileSync(file, "utf8");
  const now = retold(text);
  if (process.env.REWRITE === "1") writeFileSync(file, now);
  expect(now).toBe(process.env.REWRITE === "1" ? now : text);
});
