import { expect, test } from "@jest/globals";
import { isThisMachine } from "../../../client/sessions/this-machine.ts";

test.each(["127.0.0.1", "127.0.1.11", "::1", "localhost"])("%s is this machine", async (host) => {
  expect(await isThisMachine(host)).toBe(true);
});

// Of no machine (RFC 5737), and of no network (RFC 6761).
test.each(["192.0.2.1", "node7.invalid"])("%s is another", async (host) => {
  expect(await isThisMachine(host)).toBe(false);
});
