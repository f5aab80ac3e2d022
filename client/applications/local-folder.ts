import { accessSync, constants, mkdirSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { ExitCode, UserError } from "../../src/errors.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { ownerHome } from "../../src/hadoop/process-owner.ts";
import { killedFileName } from "../../src/job/stored/stored-job.ts";

/** Files of a local application's folder; the AM writes the status and its address, the client writes the others. */
export const localFiles = {
  pid: "am.pid",
  status: "status.json",
  /** Why the job is to end: when the AM dies of the signal before it handles signals, only this file says that it was killed. */
  killed: killedFileName,
  tokens: "container_tokens",
} as const;

const idPattern = /^local_(\d+)_(\d{4})$/;

/** Whether this is the id of an application of the local scheduler. */
export function isLocalId(id: string): boolean {
  return idPattern.test(id);
}

/** Where this user's local applications are: `${XDG_STATE_HOME:-~/.local/state}/tony-ts/local`. */
export function localRoot(environment: Readonly<Record<string, string | undefined>>): string {
  const [state, home = ownerHome()] = [environment.XDG_STATE_HOME, environment.HOME].map((folder = "") =>
    path.isAbsolute(folder) ? folder : undefined,
  );
  return path.join(state ?? path.join(home, ".local", "state"), "tony-ts", "local");
}

/** Why that folder cannot be made or written to; undefined: it can. */
export function rootRefusal(root: string): string | undefined {
  try {
    accessSync(root, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const parent = path.dirname(root);
    if (errorCode(error) === "ENOENT" && parent !== root) return rootRefusal(parent);
    return errorMessage(error);
  }
}

export const ROOT_MEND = "Set HOME or XDG_STATE_HOME to a folder that you can write to";

function makeRoot(root: string): void {
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const what = `The folder of this machine's jobs cannot be made: ${errorMessage(cause)}`;
    throw new UserError(`${what}\n  ${ROOT_MEND}`, {
      code: "FOLDER_REFUSED",
      exitCode: ExitCode.cluster,
      cause,
    });
  }
}

/** Makes the folder of a new application; creating it reserves the id for this process. */
export function newLocalFolder(root: string, nowMs: number): { readonly id: string; readonly folder: string } {
  makeRoot(root);
  for (let sequence = 1; ; sequence += 1) {
    const id = `local_${nowMs}_${String(sequence).padStart(4, "0")}`;
    const folder = path.join(root, id);
    try {
      mkdirSync(folder, { mode: 0o700 });
      return { id, folder };
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }
}

/** Newest first. */
export function localIds(root: string): string[] {
  try {
    return readdirSync(root).filter(isLocalId).sort().reverse();
  } catch {
    return [];
  }
}

/** When the application was submitted: its id says so. */
export function submittedAtMs(id: string): number {
  return Number(idPattern.exec(id)?.[1] ?? 0);
}

/** In YARN's form: `container_<ms>_0001_01_000001`. */
export function localMasterContainerId(id: string): string {
  const [, time, sequence] = idPattern.exec(id) ?? [];
  return `container_${time}_${sequence}_01_000001`;
}

/** The file's text; undefined when there is none (yet). */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
