import { networkInterfaces } from "node:os";
import { expect, test } from "@jest/globals";
import { interfaceOfNode, interfaceWith } from "../../../executor/generation/network-interface.ts";

const interfaces = {
  lo: [{ address: "127.0.0.1", internal: true }],
  eth0: [
    { address: "10.0.0.7", internal: false },
    { address: "fe80::1", internal: false },
  ],
  ib0: [{ address: "192.168.7.7", internal: false }],
};

test("an address belongs to the interface that has it", () => {
  expect(interfaceWith("192.168.7.7", interfaces)).toBe("ib0");
  expect(interfaceWith("fe80::1", interfaces)).toBe("eth0");
});

test("loopback is no way to another node, and an address that no interface has is none", () => {
  expect(interfaceWith("127.0.0.1", interfaces)).toBeUndefined();
  expect(interfaceWith("127.0.1.1", interfaces)).toBeUndefined();
});

test("of tasks that are all on one node nothing is said, nor of hosts that nobody knows", async () => {
  expect(await interfaceOfNode("n1", ["n1", "n1"])).toBeUndefined();
  expect(await interfaceOfNode("no-such-host.invalid", ["n1", "no-such-host.invalid"])).toBeUndefined();
  expect(await interfaceOfNode("127.0.1.1", ["127.0.1.1", "127.0.2.1"])).toBeUndefined();
});

const [name, address] =
  Object.entries(networkInterfaces())
    .flatMap(
      ([one, infos]) =>
        infos?.filter(({ internal, family }) => !internal && family === "IPv4").map((info) => [one, info.address]) ??
        [],
    )
    .at(0) ?? [];
const onNetwork = name === undefined || address === undefined ? test.skip : test;

onNetwork(
  "the node's own address names its interface, and one that leads to loopback that of the way to the others",
  async () => {
    expect(await interfaceOfNode(String(address), [String(address), "127.0.0.1"])).toBe(name);
    expect(await interfaceOfNode("127.0.1.1", ["127.0.1.1", "192.0.2.1"])).toBe(name);
  },
);
