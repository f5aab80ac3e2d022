import { describe, expect, test } from "@jest/globals";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import {
  namesService,
  resourceManagerEndpoints,
  resourceManagerWebAddresses,
} from "../../../src/hadoop/yarn/endpoints.ts";

const rm = "yarn.resourcemanager";
const settings = (values: Record<string, string>) => new Map(Object.entries(values));

describe("where the ResourceManager listens", () => {
  test("its address, or its host and the usual port", () => {
    expect(resourceManagerEndpoints(settings({ [`${rm}.address`]: "a:1" }), "client")).toEqual([
      { host: "a", port: 1 },
    ]);
    expect(resourceManagerEndpoints(settings({ [`${rm}.hostname`]: "a" }), "scheduler")).toEqual([
      { host: "a", port: 8030 },
    ]);
    expect(resourceManagerEndpoints(settings({ [`${rm}.admin.address`]: "a" }), "admin")).toEqual([
      { host: "a", port: 8033 },
    ]);
  });

  test("each of several, in their order", () => {
    const several = settings({
      [`${rm}.ha.enabled`]: "true",
      [`${rm}.ha.rm-ids`]: "rm1, rm2",
      [`${rm}.hostname.rm1`]: "a",
      [`${rm}.address.rm2`]: "b:9032",
      [`${rm}.hostname.rm2`]: "b",
    });
    expect(resourceManagerEndpoints(several, "client")).toEqual([
      { host: "a", port: 8032 },
      { host: "b", port: 9032 },
    ]);
    const off = settings({ [`${rm}.ha.rm-ids`]: "rm1, rm2", [`${rm}.hostname`]: "a", [`${rm}.hostname.rm1`]: "b" });
    expect(resourceManagerEndpoints(off, "client")).toEqual([{ host: "a", port: 8032 }]);
  });

  test("their web addresses, in the same order, as far as they are known", () => {
    const several = {
      [`${rm}.ha.enabled`]: "true",
      [`${rm}.ha.rm-ids`]: "rm1,rm2,rm3",
      [`${rm}.hostname.rm1`]: "a",
      [`${rm}.webapp.address.rm2`]: "b:9088",
      [`${rm}.webapp.https.address.rm2`]: "b:9090",
    };
    expect(resourceManagerWebAddresses(settings(several))).toEqual([
      { host: "a", port: 8088 },
      { host: "b", port: 9088 },
      undefined,
    ]);
    expect(resourceManagerWebAddresses(settings({ ...several, "yarn.http.policy": "HTTPS_ONLY" }))).toEqual([
      { host: "a", port: 8090 },
      { host: "b", port: 9090 },
      undefined,
    ]);
  });

  test("is told only where that is said of each of several", () => {
    const several = { [`${rm}.ha.enabled`]: "true", [`${rm}.ha.rm-ids`]: "rm1,rm2", [`${rm}.hostname.rm1`]: "a" };
    expect(namesService(settings(several), "client")).toBe(false);
    expect(namesService(settings({ ...several, [`${rm}.hostname.rm2`]: "b" }), "client")).toBe(true);
  });

  test("beside the address for clients, where that is all that is said", () => {
    const values = { [`${rm}.address`]: "a:18032", [`${rm}.scheduler.address`]: "0.0.0.0:8030" };
    for (const only of [{ [`${rm}.address`]: "a:18032" }, values]) {
      expect(resourceManagerEndpoints(settings(only), "scheduler")).toEqual([{ host: "a", port: 8030 }]);
      expect(namesService(settings(only), "scheduler")).toBe(false);
    }
    expect(namesService(settings({ [`${rm}.hostname`]: "a" }), "scheduler")).toBe(true);
    const configuration = new Configuration().withValues({ [`${rm}.address`]: "a:18032" });
    expect(resourceManagerEndpoints(configuration, "scheduler")).toEqual([{ host: "a", port: 8030 }]);
  });

  test("nothing set, or nonsense: the key is named", () => {
    expect(() => resourceManagerEndpoints(settings({ [`${rm}.hostname`]: "0.0.0.0" }), "client")).toThrow(
      /neither yarn.resourcemanager.address nor yarn.resourcemanager.hostname is set to a host \(0\.0\.0\.0 is none\)/,
    );
    expect(() => resourceManagerEndpoints(settings({ [`${rm}.address`]: "a:b" }), "client")).toThrow(
      /host:port is wanted/,
    );
    for (const values of [{}, { [`${rm}.address`]: "a:b" }])
      expect(() => resourceManagerEndpoints(settings(values), "client")).toThrow(
        expect.objectContaining({ code: "CONFIGURATION" }),
      );
    const unnamed = settings({ [`${rm}.ha.enabled`]: "true", [`${rm}.ha.rm-ids`]: " ", [`${rm}.hostname`]: "a" });
    expect(resourceManagerEndpoints(unnamed, "client")).toEqual([{ host: "a", port: 8032 }]);
  });
});
