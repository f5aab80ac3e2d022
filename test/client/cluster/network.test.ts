import { createServer } from "node:net";
import { expect, test } from "@jest/globals";
import { thisMachinesNetwork } from "../../../client/cluster/network.ts";
import { parseHostPort } from "../../../src/hadoop/conf/values.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

/** Nobody is asked for a label of more than 63 letters. */
const unknown = `${"x".repeat(64)}.invalid`;

test("a host's addresses are asked for; one that is not known has none, or the resolver cannot tell", async () => {
  expect(await thisMachinesNetwork.addressesOf("127.0.0.1")).toEqual(["127.0.0.1"]);
  expect((await thisMachinesNetwork.addressesOf(unknown)) ?? []).toEqual([]);
});

test("a server where nobody listens refuses; one that listens, and a host that is not known, do not", async () => {
  const server = createServer();
  await listenLocally(server);
  const here = parseHostPort(localAddress(server)) ?? { host: "", port: 0 };
  expect(await thisMachinesNetwork.refuses(here)).toBe(false);
  await new Promise((resolve) => server.close(resolve));
  expect(await thisMachinesNetwork.refuses(here)).toBe(true);
  expect(await thisMachinesNetwork.refuses({ host: unknown, port: 1 })).toBe(false);
});
