import type { ExpansionVariables } from "../../hadoop/conf/configuration.ts";
import {
  type Expansion,
  type ExpansionContext,
  expand,
  expandVariables,
  maximumSubstitutions,
} from "../../hadoop/conf/expansion.ts";
import { entryOf } from "../../hadoop/json.ts";
import type { KeyDefinition } from "../keys/key.ts";
import { type KeyName, type KeyParameters, type KeyValue, keyFor, keys } from "../keys.ts";
import type { Problem } from "../problem.ts";
import type { EffectiveSetting, Settings } from "../settings.ts";

/** The value of a key, parsed: the job's, else the default. */
export function readSetting<K extends KeyName>(settings: Settings, name: K, parameters?: KeyParameters): KeyValue<K> {
  // The row's own type parsed it, which is what KeyValue is made from.
  return readRow(settings, keyFor(name, parameters), keys[name]) as KeyValue<K>;
}

/** The value of a key, by its row. Text that its type refuses counts as absent: `checkKeys` reports it. */
export function readRow(settings: Settings, key: string, row: KeyDefinition): unknown {
  const written = settings.get(key)?.value;
  return (parsed(row, written) ?? parsed(row, row.default))?.value;
}

/** Boxed, because undefined is a valid value: a wait that is switched off. */
function parsed(definition: KeyDefinition, text: string | undefined): { readonly value: unknown } | undefined {
  if (text === undefined) return undefined;
  try {
    return { value: definition.type.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * The settings with `${…}` expanded as Hadoop does it: other settings of the job, `${user.name}`, `${env.HOME}`. Unknown names,
 * such as a shell variable in a command, stay unchanged.
 */
export function expandSettings(settings: Settings, variables: ExpansionVariables): Settings {
  const context = referencesOf(settings, variables);
  const expanded = [...settings].map(([key, setting]): [string, EffectiveSetting] => [
    key,
    { ...setting, value: expandVariables(setting.value, context) ?? setting.value },
  ]);
  return new Map(expanded);
}

/** What `${…}` in a job's settings may refer to. */
function referencesOf(settings: Settings, variables: ExpansionVariables): ExpansionContext {
  return {
    environment: variables.environment,
    lookUp: (name) => entryOf(variables.systemProperties, name) ?? settings.get(name)?.value,
  };
}

/**
 * Warns of `${…}` that Hadoop's rules leave unchanged although nobody can have meant that: a circle, and `${env.X}`, which no shell
 * accepts either. Any other name without a value may be a shell variable, or belong to the program.
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
  if (isSet) return `leaves ${left} as written: expansion stops at ${reference} before it, which has no value here`;
  return `leaves ${left} as written: ${name} is not set here. Set it, or give a default: ${left.slice(0, -1)}:-VALUE}`;
}
