import { expect, test } from "@jest/globals";
import { hostEntries, hostNames } from "../../../../scripts/cluster/secure/host-names.mjs";

test("names the hosts of a network, so that clusters side by side have different ones", () => {
  expect(hostNames(7, 2)).toEqual({ master: "master.n7.tony.test", nodes: ["nm1.n7.tony.test", "nm2.n7.tony.test"] });
  expect(hostNames(8, 1, { ha: true })).toEqual({
    master: "master.n8.tony.test",
    secondMaster: "master2.n8.tony.test",
    nodes: ["nm1.n8.tony.test"],
  });
});

test("knows the address behind each name, and takes an open cluster's addresses for names", () => {
  const settings = { secure: true, ha: true };
  expect(hostEntries({ network: 7, addresses: hostNames(7, 1, { ha: true }), settings })).toEqual([
    { address: "127.0.7.1", name: "master.n7.tony.test" },
    { address: "127.0.7.2", name: "master2.n7.tony.test" },
    { address: "127.0.7.11", name: "nm1.n7.tony.test" },
  ]);
  const open = { network: 7, addresses: { master: "10.213.7.1", nodes: [] }, settings: { secure: false, ha: false } };
  expect(hostEntries(open)).toEqual([{ address: "10.213.7.1", name: "10.213.7.1" }]);
});
