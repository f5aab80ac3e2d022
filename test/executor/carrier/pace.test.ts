import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, test } from "@jest/globals";
import { Pace } from "../../../executor/carrier/pace.ts";

const chunks = (count: number) => Readable.from(Array.from({ length: count }, () => Buffer.alloc(100)));

test("streams that share a pace are together no faster than it", async () => {
  let nowMs = 0;
  const pace = new Pace(
    1000,
    () => nowMs,
    async (ms) => {
      nowMs += ms;
    },
  );
  await buffer(pace.through(chunks(6)));
  expect(await buffer(pace.through(chunks(5)))).toHaveLength(500);
  // The last of eleven chunks of 100 ms each begins after ten.
  expect(nowMs).toBe(1000);
});

test("what comes after a pause is as slow as before: nothing is saved up", async () => {
  let nowMs = 60_000;
  const pace = new Pace(
    1000,
    () => nowMs,
    async (ms) => {
      nowMs += ms;
    },
  );
  await buffer(pace.through(chunks(6)));
  expect(nowMs).toBe(60_500);
  nowMs = 120_000;
  await buffer(pace.through(chunks(6)));
  expect(nowMs).toBe(120_500);
});

test("without a limit a stream is left as it is, and a source that fails fails the stream", async () => {
  const source = chunks(1);
  expect(new Pace(undefined, () => 0).through(source)).toBe(source);
  const failing = new Readable({ read: () => failing.destroy(new Error("disk")) });
  await expect(buffer(new Pace(1000, () => 0).through(failing))).rejects.toThrow("disk");
  const given = new Pace(
    1,
    () => 0,
    () => Promise.reject(new Error("the wait was given up")),
  );
  await expect(buffer(given.through(chunks(2)))).rejects.toThrow("the wait was given up");
});

test("a stream that is given up gives its source up", async () => {
  const source = new Readable({ read: () => undefined });
  const paced = new Pace(1000, () => 0).through(source);
  paced.destroy();
  await new Promise((resolve) => paced.once("close", resolve));
  expect(source.destroyed).toBe(true);
});
