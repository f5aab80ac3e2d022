import { expect, test } from "@jest/globals";
import { hostNames } from "../../../../scripts/cluster/secure/host-names.mjs";
import { principalsOf } from "../../../../scripts/cluster/secure/realm.mjs";

test("gives each service a principal for each host, each person one, and the proxy service that of its host", () => {
  expect(principalsOf({ addresses: hostNames(7, 1), submitter: "ada" })).toEqual({
    hdfs: ["hdfs", "hdfs/master.n7.tony.test", "hdfs/nm1.n7.tony.test"],
    yarn: ["yarn", "yarn/master.n7.tony.test", "yarn/nm1.n7.tony.test"],
    http: ["HTTP/master.n7.tony.test", "HTTP/nm1.n7.tony.test"],
    azkaban: ["azkaban/master.n7.tony.test"],
    alice: ["alice"],
    bob: ["bob"],
    carol: ["carol"],
    nohome: ["nohome"],
    ada: ["ada"],
    "alice-away": ["alice/away"],
    "bob-away": ["bob/away"],
  });
});

test("does not make a person's principal twice", () => {
  expect(Object.keys(principalsOf({ addresses: hostNames(7, 0), submitter: "alice" }))).toEqual([
    ...["hdfs", "yarn", "http", "azkaban"],
    ...["alice", "bob", "carol", "nohome"],
    ...["alice-away", "bob-away"],
  ]);
});
