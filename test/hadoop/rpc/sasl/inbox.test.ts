import { expect, test } from "@jest/globals";
import { Inbox } from "../../../../src/hadoop/rpc/sasl/inbox.ts";

test("messages are received in the order in which they came, before and after they are waited for", async () => {
  const inbox = new Inbox<string>();
  inbox.put("one");
  inbox.put("two");
  expect([await inbox.receive(), await inbox.receive()]).toEqual(["one", "two"]);
  const waiting = inbox.receive();
  inbox.put("three");
  inbox.put("four");
  expect([await waiting, await inbox.receive()]).toEqual(["three", "four"]);
});

test("a failure reaches the reader that waits, and each later one once the messages are received", async () => {
  const inbox = new Inbox<string>();
  const waiting = inbox.receive();
  expect(inbox.fail("gone")).toBe(true);
  await expect(waiting).rejects.toBe("gone");
  expect(inbox.fail("gone again")).toBe(false);
  inbox.put("late");
  expect(await inbox.receive()).toBe("late");
  await expect(inbox.receive()).rejects.toBe("gone");
});
