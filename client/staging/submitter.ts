import { hostname } from "node:os";
import { errorCode } from "../../src/hadoop/errors.ts";

/** The process that made a staging folder: a client that finds the folder without its application checks whether this process is still at work. */
export interface Submitter {
  readonly host: string;
  readonly pid: number;
}

export function thisSubmitter(): Submitter {
  return { host: hostname(), pid: process.pid };
}

/** Reads client.json; undefined when it does not exist. */
export function parseSubmitter(text: string): Submitter | undefined {
  const parsed: unknown = JSON.parse(text);
  const submitter: unknown = Object.entries(parsed ?? {}).find(([key]) => key === "submitter")?.[1];
  if (typeof submitter !== "object" || submitter === null) return undefined;
  if (!("host" in submitter) || !("pid" in submitter)) return undefined;
  const { host, pid } = submitter;
  return typeof host === "string" && typeof pid === "number" ? { host, pid } : undefined;
}

/** False only where the process is known to be gone. */
export function mayBeAtWork({ host, pid }: Submitter): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}
