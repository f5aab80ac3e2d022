import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { programPath } from "../../src/programs.ts";

/** A run of `tony-ts` as its tests see it. */
export interface ClientRun {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What it has printed until now, by stream. */
  readonly printed: Readonly<Record<"stdout" | "stderr", string>>;
  /** How it ended, in words; undefined while it runs. */
  readonly end: string | undefined;
}

/** How many lines of a run's output and of an ApplicationMaster's log are enough. */
const shownLines = 100;
const masterLines = "40";
const askingLimitMs = 20_000;

/**
 * The runs of the present test, and those that earlier tests left running. Of several runs with the same words, as when tests ask for
 * a state over and over, only the last is kept. jest-environment.mjs prints a test's runs when the test fails.
 */
class ClientRuns {
  readonly #runs = new Map<string, ClientRun>();
  /** Jobs that were submitted without the client, with the environment in which to ask for them. */
  readonly #jobs = new Map<string, ClientRun["environment"]>();

  add(run: ClientRun): void {
    const line = run.words.join(" ");
    this.#runs.delete(line);
    this.#runs.set(line, run);
  }

  addJob(id: string, environment: ClientRun["environment"]): void {
    this.#jobs.set(id, environment);
  }

  /** All that the runs printed, and the last lines that their jobs' ApplicationMasters logged; empty when there was nothing. */
  async tell(): Promise<string> {
    const told = [...this.#runs.values()].map(tellRun);
    const masters = [...this.#submitted(), ...this.#jobs].map(([id, environment]) => tellMaster(id, environment));
    return [...told, ...(await Promise.all(masters))].join("\n");
  }

  /** The present test is over: forgets the runs that have ended. */
  forget(): void {
    for (const [line, { end }] of this.#runs) if (end !== undefined) this.#runs.delete(line);
    this.#jobs.clear();
  }

  #submitted(): Map<string, ClientRun["environment"]> {
    const submissions = [...this.#runs.values()].filter(({ words: [verb] }) => verb === "submit");
    return new Map(
      submissions.flatMap(({ printed, environment }) => {
        const [id] = /application_\d+_\d+/.exec(printed.stdout) ?? [];
        return id === undefined ? [] : [[id, environment] as const];
      }),
    );
  }
}

export const clientRuns = new ClientRuns();
// The way out of Jest's sandbox.
Object.assign(globalThis, { clientRuns });

function tellRun({ words, printed, end }: ClientRun): string {
  const lines = (["stdout", "stderr"] as const).flatMap((stream) => lastLines(printed[stream], `  ${stream} | `));
  return [`$ tony-ts ${words.join(" ")}`, ...lines, `  ${end ?? "still runs"}`].join("\n");
}

async function tellMaster(id: string, environment: ClientRun["environment"]): Promise<string> {
  const words = ["logs", id, "am", "--tail", masterLines];
  const asked = promisify(execFile)(process.execPath, [programPath("tony-ts"), ...words], {
    env: { ...process.env, ...environment },
    timeout: askingLimitMs,
  });
  const printed = await asked.catch((error: { readonly stdout: string; readonly stderr: string }) => error);
  return tellRun({ words, environment, printed, end: "asked after the test" });
}

function lastLines(text: string, head: string): string[] {
  const lines = text.split("\n").filter((line) => line !== "");
  const left = lines.length - shownLines;
  return [
    ...(left > 0 ? [`${head}… ${left} lines before`] : []),
    ...lines.slice(-shownLines).map((line) => head + line),
  ];
}
