import { request } from "node:http";

export interface JsonAnswer {
  readonly status: number;
  /** Parsed; undefined for an empty body. */
  readonly body: unknown;
}

/** One HTTP call to a daemon of the test cluster; any status is an answer. */
export function requestJson(
  url: string,
  { method = "GET", body }: { readonly method?: string; readonly body?: unknown } = {},
): Promise<JsonAnswer> {
  return new Promise((resolve, reject) => {
    const headers = {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const call = request(url, { method, headers, agent: false, timeout: 60_000 }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(parts).toString("utf8");
        try {
          resolve({ status: response.statusCode ?? 0, body: text === "" ? undefined : JSON.parse(text) });
        } catch {
          reject(new Error(`${url} answered ${response.statusCode} with what is no JSON: ${text.slice(0, 200)}`));
        }
      });
    });
    call.on("timeout", () => call.destroy(new Error(`no answer from ${url} within 60 s`)));
    call.on("error", reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
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
