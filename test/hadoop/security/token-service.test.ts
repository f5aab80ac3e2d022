import { describe, expect, test } from "@jest/globals";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { tokenEnding } from "../../../src/hadoop/security/token-ending.ts";
import { isServiceOf, systemLookUp, tokenServiceOf } from "../../../src/hadoop/security/token-service.ts";

const lookUp = async (host: string) => {
  if (host === "gone") throw new Error("no address");
  return host === "NN.example" || host === "nn.example" ? ["10.0.0.1", "10.0.0.2"] : [];
};

describe("the service name of a new token", () => {
  const byName = { "hadoop.security.token.service.use_ip": "false" };
  test.each([
    ["its first address", "NN.example", {}, "10.0.0.1:8020"],
    ["its name in small letters, where services are named so", "NN.example", byName, "nn.example:8020"],
    ["the address that it is named by", "10.0.0.9", {}, "10.0.0.9:8020"],
    ["an address of IPv6 in brackets", "fd00::1", {}, "[fd00::1]:8020"],
    ["its name, where it has no address", "odd", {}, "odd:8020"],
  ])("has %s", async (_what, host, values, expected) => {
    const configuration = new Configuration().withValues(values);
    expect(await tokenServiceOf({ host, port: 8020 }, configuration, lookUp)).toBe(expected);
  });

  test("is not made for a host that cannot be looked up", async () => {
    await expect(tokenServiceOf({ host: "gone", port: 1 }, new Configuration(), lookUp)).rejects.toThrow("no address");
  });

  test("is looked up in the system", async () => {
    expect(await systemLookUp("127.0.0.1")).toEqual(["127.0.0.1"]);
  });
});

describe("a token", () => {
  test.each([
    ["10.0.0.1:8020", "nn.example:8020", true],
    ["10.0.0.2:8020", "nn.example:8020", true],
    ["10.0.0.2:8021", "nn.example:8020", false],
    ["NN.example:8020", "nn.EXAMPLE:8020", true],
    ["ha-hdfs:NS", "ha-hdfs:ns", true],
    ["ha-hdfs:ns", "ha-hdfs:other", false],
    ["10.0.0.1:8020", "10.0.0.3:8020", false],
    ["10.0.0.1:8032,10.0.0.3:8032", "10.0.0.3:8032", true],
    ["10.0.0.1:8032,10.0.0.3:8032", "10.0.0.3:8032,nn.example:8032", true],
    ["10.0.0.1:8032", "10.0.0.3:8032,nn.example:8032", false],
    ["10.0.0.1:8020", "gone:8020", false],
    ["", "nn.example:8020", false],
  ])("for %s is one for %s: %s", async (service, name, expected) => {
    expect(await isServiceOf(service, name, lookUp)).toBe(expected);
  });

  test("for an address needs no look-up for that address", async () => {
    const asked: string[] = [];
    const counting = async (host: string) => {
      asked.push(host);
      return ["10.0.0.1"];
    };
    expect(await isServiceOf("10.0.0.1:8020", "10.0.0.3:8020", counting)).toBe(false);
    expect(asked).toEqual([]);
  });
});

test.each([
  ["token (HDFS_DELEGATION_TOKEN token 7 for ada) can't be found in cache", "forgotten"],
  ["token (token for ada: …) is expired, current time: 5", "expired"],
  ["The Token has expired", "expired"],
  ["the tokens are expired", undefined],
  ["the ticket is expired", undefined],
])("a server that says %j has the token %s", (message, ending) => {
  expect(tokenEnding(message)).toBe(ending);
});
