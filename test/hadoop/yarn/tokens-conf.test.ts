import { expect, test } from "@jest/globals";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { WritableReader } from "../../../src/hadoop/security/writable.ts";
import { tokensConf } from "../../../src/hadoop/yarn/tokens-conf.ts";

const configuration = (pattern: string) =>
  new Configuration().withValues({
    "dfs.nameservices": "here,there",
    "dfs.namenode.rpc-address.there": "nn.${dfs.domain}:8020",
    "dfs.domain": "example.com",
    "old.dfs.nameservices": "other",
    "mapreduce.job.send-token-conf": pattern,
  });

test("of a submitter's configuration those keys go with the tokens whose whole names match, with their values expanded", () => {
  const reader = new WritableReader(
    tokensConf(configuration("dfs\\.nameservices|dfs\\.namenode\\..*")) ?? new Uint8Array(),
  );
  const properties: Record<string, string> = {};
  for (let count = reader.count(); count > 0; count -= 1) {
    const name = reader.text();
    properties[name] = reader.text();
    // Where it was set: no array.
    for (let byte = 0; byte < 4; byte += 1) expect(reader.vint()).toBe(-1);
  }
  expect(properties).toEqual({
    "dfs.nameservices": "here,there",
    "dfs.namenode.rpc-address.there": "nn.example.com:8020",
  });
});

test("nothing goes with them unless that is set, and what is no pattern is an error that names the key", () => {
  expect(tokensConf(new Configuration())).toBeUndefined();
  expect(() => tokensConf(configuration("dfs("))).toThrow(
    /^mapreduce\.job\.send-token-conf must be a regular expression/,
  );
});
