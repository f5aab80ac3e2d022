import { describe, expect, test } from "@jest/globals";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { timelineServer } from "../../../src/hadoop/yarn/timeline-token.ts";

const prefix = "yarn.timeline-service";
const server = (values: Readonly<Record<string, string>>) =>
  timelineServer(new Configuration().withValues({ [`${prefix}.enabled`]: "true", ...values }));

describe("the timeline server that gives tokens", () => {
  test("is there where it is enabled, of version 1 unless another is said", () => {
    expect(server({ [`${prefix}.enabled`]: "false" })).toBeUndefined();
    expect(server({})).toBeDefined();
    for (const version of ["1.0f", "1.5", "2.0, 1.5"]) expect(server({ [`${prefix}.version`]: version })).toBeDefined();
    expect(server({ [`${prefix}.version`]: "2.0f" })).toBeUndefined();
    expect(server({ [`${prefix}.versions`]: "2.0f", [`${prefix}.version`]: "1.5" })).toBeUndefined();
  });

  test("listens where its pages are, or on its host at the usual port, by the scheme of all pages", () => {
    expect(server({ [`${prefix}.webapp.address`]: "a:1" })).toMatchObject({
      endpoint: { host: "a", port: 1 },
      scheme: "http",
      isOptional: false,
    });
    const secure = { "yarn.http.policy": "HTTPS_ONLY", [`${prefix}.hostname`]: "a" };
    expect(server({ ...secure, [`${prefix}.webapp.https.address`]: "" })).toMatchObject({
      endpoint: { host: "a", port: 8190 },
      scheme: "https",
    });
    expect(server({ [`${prefix}.client.best-effort`]: "true" })?.isOptional).toBe(true);
    expect(() => server({ [`${prefix}.webapp.address`]: "a:b" })).toThrow(/must be host:port, not "a:b"/);
  });
});
