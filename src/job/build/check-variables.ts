import { programVariables } from "../../frameworks/variables.ts";
import { keyFor } from "../keys.ts";
import type { RoleSpec } from "../spec.ts";
import type { JobReader } from "./job-reader.ts";

/** Python's own variables are the job's to set; the others are tony-ts's, and absent in programs for which tony-ts does not set them. */
const reserved: ReadonlySet<string> = new Set(
  Object.keys(programVariables).filter((name) => !name.startsWith("PYTHON")),
);

/** Warns of variables that no program gets as the job sets them. */
export function checkVariables(reader: JobReader, roles: readonly string[]): void {
  const shared = ["tony.execution.envs", "tony.containers.envs", "tony.application.secrets"] as const;
  for (const key of shared) check(reader, key, reader.read(key));
  checkSubstitutions(reader, reader.read("tony.containers.envs"));
  for (const role of roles)
    check(reader, keyFor("tony.{role}.envs", { role }), reader.read("tony.{role}.envs", { role }));
}

function check(reader: JobReader, key: string, variables: Readonly<Record<string, string>> = {}): void {
  const taken = Object.keys(variables).filter((name) => reserved.has(name));
  if (taken.length === 0) return;
  const verb = taken.length === 1 ? "has" : "have";
  const names = taken.join(" and ");
  reader.warn(
    key,
    `sets ${names}, which ${verb} no effect: tony-ts sets that itself for every program; take another name`,
  );
}

/** In TonY's containers a shell sets these values and runs substitutions in them. */
function checkSubstitutions(reader: JobReader, variables: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(variables)) {
    if (!/(?<!\\)(?:\$\(|`)/.test(value)) continue;
    const mend = `set it in the command: export ${name}=…; …`;
    reader.warn(
      "tony.containers.envs",
      `${name}: commands in a value are not run, only variables such as $HOME are expanded: ${mend}`,
    );
  }
}

/** Linux starts no program with a longer argument or variable, including its terminator (MAX_ARG_STRLEN, linux/binfmts.h). */
const MOST_BYTES = 131_072 - 1;

/** Refuses commands and variables that prevent a program from starting (`spawn E2BIG`). */
export function checkLengths(reader: JobReader, roles: readonly RoleSpec[]): void {
  checkSizes(reader, "tony.containers.envs", reader.read("tony.containers.envs"));
  for (const { name: role, command, environment } of roles) {
    const own = keyFor("tony.{role}.command", { role });
    const bytes = Buffer.byteLength(command);
    if (bytes > MOST_BYTES) {
      const key = reader.settings.has(own) ? own : "tony.containers.command";
      reader.error(
        key,
        `has ${bytes} bytes, and Linux starts nothing with more than ${MOST_BYTES}: put it into a script`,
      );
    }
    const ownVariables = keyFor("tony.{role}.envs", { role });
    checkSizes(reader, reader.settings.has(ownVariables) ? ownVariables : "tony.execution.envs", environment);
  }
}

function checkSizes(reader: JobReader, key: string, environment: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(environment)) {
    const bytes = Buffer.byteLength(`${name}=${value}`);
    if (bytes <= MOST_BYTES) continue;
    const mend = "put the value into a file that the job ships, and its path here";
    reader.error(
      key,
      `makes ${name} ${bytes} bytes long, and Linux starts nothing with more than ${MOST_BYTES}: ${mend}`,
    );
  }
}
