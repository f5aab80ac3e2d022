import { readFileSync } from "node:fs";
import path from "node:path";
import { UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { readSetting } from "../../src/job/build/read-settings.ts";
import { formatProblem, type Problem } from "../../src/job/problem.ts";
import type { Settings } from "../../src/job/settings.ts";
import type { ClientContext } from "../context.ts";

const key = "tony.application.secrets";
/** All containers are started with them, and the ResourceManager stores them. */
const longestBytes = 64 * 1024;

type SecretContext = Pick<ClientContext, "environment" | "workingDirectory">;
type Source = { readonly value: string } | { readonly problem: Problem; readonly cause?: unknown };

/**
 * The values of `tony.application.secrets`, by the names of the programs' variables: a file's content without its last line end, or a
 * variable of this process.
 * @throws UserError naming a source that is missing, empty or too long, or is not text
 */
export function readSecrets(settings: Settings, context: SecretContext): Map<string, string> {
  const sources = readSources(settings, context);
  return new Map(
    sources.map(([name, source]) => {
      if ("value" in source) return [name, source.value];
      const error = { ...source.problem, severity: "error" } as const;
      throw new UserError(formatProblem(error), { code: "SECRET_UNREADABLE", cause: source.cause });
    }),
  );
}

/** Why the secrets could not be submitted from here. The variable may be set where the job is submitted, so it is a warning. */
export function secretProblems(settings: Settings, context: SecretContext): Problem[] {
  return readSources(settings, context).flatMap(([, source]) => ("problem" in source ? [source.problem] : []));
}

function readSources(settings: Settings, { environment, workingDirectory }: SecretContext): [string, Source][] {
  const sources = Object.entries(readSetting(settings, key) ?? {});
  return sources.map(([name, source]) => [
    name,
    source.startsWith("file:") ? ofFile(name, source) : ofVariable(name, source),
  ]);

  function ofFile(name: string, source: string): Source {
    const refuse = refuser(name, "error");
    try {
      const content = readFileSync(path.resolve(workingDirectory, afterColon(source)), "utf8");
      return checked(source, content.replace(/\r?\n$/, ""), refuse);
    } catch (cause) {
      return { ...refuse(`its file cannot be read: ${errorMessage(cause)}`), cause };
    }
  }

  function ofVariable(name: string, source: string): Source {
    return checked(source, environment[afterColon(source)], refuser(name, "warning"));
  }

  function refuser(name: string, severity: Problem["severity"]) {
    const at = settings.get(key)?.at;
    return (what: string) => {
      const problem = { severity, key, ...(at === undefined ? {} : { at }), message: `the secret ${name}: ${what}` };
      return { problem };
    };
  }
}

function checked(source: string, value: string | undefined, refuse: (what: string) => Source): Source {
  if (value === undefined || value === "") return refuse(`${source} is not set, or empty`);
  if (value.includes("\0")) return refuse(`${source} holds a zero byte, which no variable can`);
  if (Buffer.byteLength(value) > longestBytes) return refuse(`${source} is longer than 64 KiB`);
  return { value };
}

function afterColon(source: string): string {
  return source.slice(source.indexOf(":") + 1);
}
