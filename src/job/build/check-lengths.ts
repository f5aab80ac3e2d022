import { keyFor } from "../keys.ts";
import type { RoleSpec } from "../spec.ts";
import type { JobReader } from "./job-reader.ts";

/** Linux starts no program with a longer argument or variable, its end included (MAX_ARG_STRLEN, linux/binfmts.h). */
const MOST_BYTES = 131_072 - 1;

/** Refuses commands and variables with which no program can be started (`spawn E2BIG`). */
export function checkLengths(reader: JobReader, roles: readonly RoleSpec[]): void {
  check(reader, "tony.containers.envs", reader.read("tony.containers.envs"));
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
    check(reader, reader.settings.has(ownVariables) ? ownVariables : "tony.execution.envs", environment);
  }
}

function check(reader: JobReader, key: string, environment: Readonly<Record<string, string>> = {}): void {
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
