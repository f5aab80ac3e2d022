import type { ExpansionVariables } from "../../hadoop/conf/configuration.ts";
import { type Expansion, expand, maximumSubstitutions } from "../../hadoop/conf/expansion.ts";
import { entryOf } from "../../hadoop/json.ts";
import type { Problem } from "../problem.ts";
import type { Settings } from "../settings.ts";
import { referencesOf } from "./read-settings.ts";

/**
 * Warns of `${…}` that Hadoop's rules leave as written though nobody can have meant that: a circle, and `${env.X}`, which no shell takes
 * either. Any other name that has no value may be a shell's variable, or belong to the program.
 */
export function checkReferences(settings: Settings, variables: ExpansionVariables): Problem[] {
  const context = referencesOf(settings, variables);
  return [...settings.values()].flatMap(({ key, value, at, layer }): Problem[] => {
    const problem = layer === "site" ? undefined : problemOf(expand(value, context), variables.environment);
    return problem === undefined ? [] : [{ severity: "warning", message: `${key} ${problem}`, key, at }];
  });
}

function problemOf({ text, stopped }: Expansion, environment: ExpansionVariables["environment"]): string | undefined {
  if (stopped === undefined) return undefined;
  const { reference, why } = stopped;
  if (why === "endless")
    return `needs ${maximumSubstitutions} substitutions or more, as a circle does: nothing in it is expanded`;
  if (why === "circular") return `refers to itself by ${reference}: nothing in it is expanded`;
  const [left, name = ""] = /\$\{env\.([^}$ ]+)\}/.exec(text) ?? [];
  if (left === undefined) return undefined;
  const isSet = entryOf(environment, name.replace(/:?-.*/, "")) !== undefined || name.includes("-");
  if (isSet)
    return `leaves ${left} as written: expansion ends at ${reference}, which has no value here and stands before it`;
  return `leaves ${left} as written: ${name} is not set here. Set it, or give a default: ${left.slice(0, -1)}:-VALUE}`;
}
