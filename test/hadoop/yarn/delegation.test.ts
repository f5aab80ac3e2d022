import { describe, expect, test } from "@jest/globals";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { resourceManagerTokenService, timelineServer, tokenRenewer } from "../../../src/hadoop/yarn/delegation.ts";
import { tokensConf } from "../../../src/hadoop/yarn/tokens-conf.ts";

const one = { "yarn.resourcemanager.hostname": "RM.example" };
const two = {
  "yarn.resourcemanager.ha.enabled": "true",
  "yarn.resourcemanager.ha.rm-ids": "a,b",
  "yarn.resourcemanager.hostname.a": "10.0.0.1",
  "yarn.resourcemanager.hostname.b": "rm2",
};
const configurationOf = (values: Readonly<Record<string, string>>) => new Configuration().withValues(values);
const nameOf = async (address: string) => `Host-of-${address}`;
const lookUp = async (host: string) => [host === "RM.example" ? "10.1.0.1" : "10.1.0.2"];

describe("who renews a job's delegation tokens", () => {
  test.each([
    ["the principal that is configured", { ...one, "yarn.resourcemanager.principal": "rm@EXAMPLE" }, "rm@EXAMPLE"],
    ["one without a host as it is", { ...one, "yarn.resourcemanager.principal": "rm_HOST@R" }, "rm_HOST@R"],
    ["with the host in place of _HOST", { ...one, "yarn.resourcemanager.principal": "rm/_HOST@R" }, "rm/rm.example@R"],
    [
      "of two the first one's, by name",
      { ...two, "yarn.resourcemanager.principal": "rm/_HOST@R" },
      "rm/host-of-10.0.0.1@R",
    ],
  ])("%s", async (_which, values, expected) => {
    expect(await tokenRenewer(configurationOf(values), nameOf)).toBe(expected);
  });

  test("nobody is an error that names the key", async () => {
    await expect(tokenRenewer(configurationOf(one))).rejects.toThrow(/yarn\.resourcemanager\.principal is not set/);
  });
});

describe("what a ResourceManager's delegation token is filed under", () => {
  test.each([
    ["its IP address", one, "10.1.0.1:8032"],
    [
      "its name, where services are named so",
      { ...one, "hadoop.security.token.service.use_ip": "false" },
      "rm.example:8032",
    ],
    ["those of all, where there are several", two, "10.0.0.1:8032,10.1.0.2:8032"],
  ])("%s", async (_what, values, expected) => {
    expect(await resourceManagerTokenService(configurationOf(values), lookUp)).toBe(expected);
  });
});

describe("what the ResourceManager is told for renewals", () => {
  test("nothing, unless a pattern chooses", () => {
    expect(tokensConf(configurationOf(one))).toBeUndefined();
  });

  test("what is no pattern is an error that names the key", () => {
    const configuration = configurationOf({ "mapreduce.job.send-token-conf": "(" });
    expect(() => tokensConf(configuration)).toThrow(/mapreduce\.job\.send-token-conf must be a regular expression/);
  });
});

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
