import { type AskedCluster, httpRequest } from "../../scripts/cluster/http.mjs";

export interface JsonAnswer {
  readonly status: number;
  /** Parsed; undefined for an empty body. */
  readonly body: unknown;
}

/** One where everybody is who he says he is; `user.name` in the address says it. */
const open: AskedCluster = { settings: { secure: false }, state: "", users: { yarn: { name: "" } } };

/** One HTTP call to a daemon of the test cluster, as that user where `as` names one; any status is an answer. */
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
 * Follows names and indexes into parsed JSON, `undefined` where the path leads nowhere.
 * @example at(answer.body, "apps", "app", 0, "id")
 */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}

/** As {@link at}, but always a list: JSON's `null` and an absent one are empty. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}
