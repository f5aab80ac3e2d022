import { entryOf } from "../json.ts";

/** org.apache.hadoop.conf.Configuration.MAX_SUBST */
export const maximumSubstitutions = 20;

export interface ExpansionContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A Java system property (`user.name`) or a configuration key, in that order, not expanded. */
  readonly lookUp: (name: string) => string | undefined;
}

/**
 * Expands `${…}` as org.apache.hadoop.conf.Configuration.substituteVars does: repeatedly, the leftmost innermost reference first.
 * `${env.X}`, `${env.X:-default}` (unset or empty) and `${env.X-default}` (unset) read the environment. A reference without a value stops
 * the expansion: it stays as written, as does everything to its right. A value that contains its own reference returns the expression
 * unchanged.
 *
 * @returns undefined when more than 20 substitutions would be needed: a loop over several keys
 */
export function expandVariables(expression: string, context: ExpansionContext): string | undefined {
  const { text, stopped } = expand(expression, context);
  return stopped?.why === "endless" ? undefined : text;
}

export interface Expansion {
  readonly text: string;
  /** The reference at which the expansion stopped, for it and everything to its right; for an endless loop, the whole expression. */
  readonly stopped?: { readonly reference: string; readonly why: "unset" | "circular" | "endless" };
}

/** The same, with the reference at which it stopped. */
export function expand(expression: string, context: ExpansionContext): Expansion {
  let text = expression;
  for (let count = 0; count < maximumSubstitutions; count += 1) {
    const found = findReference(text);
    if (found === undefined) return { text };
    const { name, start, end } = found;
    const value = environmentValue(name, context.environment) ?? context.lookUp(name);
    const reference = text.slice(start, end);
    if (value === undefined) return { text, stopped: { reference, why: "unset" } };
    if (value.includes(reference)) return { text: expression, stopped: { reference, why: "circular" } };
    text = text.slice(0, start) + value + text.slice(end);
  }
  return { text: expression, stopped: { reference: expression, why: "endless" } };
}

/** The leftmost `${name}` whose name contains no `$`, space or brace. */
function findReference(text: string): { name: string; start: number; end: number } | undefined {
  const match = /\$\{([^}$ ]+)\}/.exec(text);
  const name = match?.[1];
  if (match === null || name === undefined) return undefined;
  return { name, start: match.index, end: match.index + match[0].length };
}

/** The value of an `env.` reference; the first `:-` or `-` ends the variable's name. */
function environmentValue(name: string, environment: ExpansionContext["environment"]): string | undefined {
  if (!name.startsWith("env.") || name.length === 4) return undefined;
  const expression = name.slice(4);
  const separator = /:-|-/.exec(expression);
  if (separator === null) return entryOf(environment, expression);
  const value = entryOf(environment, expression.slice(0, separator.index));
  const fallback = expression.slice(separator.index + separator[0].length);
  return separator[0] === ":-" ? value || fallback : (value ?? fallback);
}
