import { type AskedCluster, httpRequest } from "../../scripts/cluster/http.mjs";

export interface JsonAnswer {
  readonly status: number;
  /** The parsed body; undefined where it was empty. */
  readonly body: unknown;
}

/** A cluster that believes everybody's name; `user.name` in the address gives it. */
const open: AskedCluster = { settings: { secure: false }, state: "", users: { yarn: { name: "" } } };

/**
 * Makes one HTTP call to a daemon of the test cluster, as the user that `as` names, if any. Any status is an answer.
 */
export async function requestJson(
  url: string,
  {
    cluster = open,
    ...options
  }: {
    readonly cluster?: AskedCluster;
    readonly as?: string;
    readonly method?: string;
    readonly body?: unknown;
  } = {},
): Promise<JsonAnswer> {
  const { status, text } = await httpRequest(cluster, url, { ...options, timeoutMs: 60_000 });
  try {
    return { status, body: text === "" ? undefined : JSON.parse(text) };
  } catch {
    throw new Error(`${url} answered ${status} with what is no JSON: ${text.slice(0, 200)}`);
  }
}

/**
 * Follows names and indexes into parsed JSON; `undefined` where the path leads nowhere.
 * @example at(answer.body, "apps", "app", 0, "id")
 */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}

/** As {@link at}, but always a list: JSON's `null` and an absent value give an empty one. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}
