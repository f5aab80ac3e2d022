import type { Surroundings } from "../hadoop/conf/configuration.ts";
import { type ExpansionContext, expandVariables } from "../hadoop/conf/expansion.ts";
import type { KeyDefinition } from "./keys/key.ts";
import { type KeyName, type KeyParameters, type KeyValue, keyFor, keys } from "./keys.ts";
import type { EffectiveSetting, Settings } from "./settings.ts";

/**
 * The value of a key: what the job says, else the default, parsed. Text that its type refuses counts as absent: `checkKeys` reports it.
 */
export function readSetting<K extends KeyName>(settings: Settings, name: K, parameters?: KeyParameters): KeyValue<K> {
  const definition: KeyDefinition = keys[name];
  const written = settings.get(keyFor(name, parameters))?.value;
  const { value } = parsed(definition, written) ?? parsed(definition, definition.default) ?? { value: undefined };
  // The row's own type parsed it, which is what KeyValue is made from.
  return value as KeyValue<K>;
}

/** Boxed, because undefined is a value: a wait that is off. */
function parsed(definition: KeyDefinition, text: string | undefined): { readonly value: unknown } | undefined {
  if (text === undefined) return undefined;
  try {
    return { value: definition.type.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * The settings with `${…}` expanded as Hadoop does it: other settings of the job, `${user.name}`, `${env.HOME}`. What is unknown,
 * such as a shell variable of a command, stays as written.
 */
export function expandSettings(settings: Settings, variables: Surroundings): Settings {
  const context: ExpansionContext = {
    environment: variables.environment,
    lookUp: (name) => variables.systemProperties[name] ?? settings.get(name)?.value,
  };
  const expanded = [...settings].map(([key, setting]): [string, EffectiveSetting] => [
    key,
    { ...setting, value: expandVariables(setting.value, context) ?? setting.value },
  ]);
  return new Map(expanded);
}
