import { expect, test } from "@jest/globals";
import { OwnCore } from "../../../am/storage/own-core.ts";
import { journalClosed } from "../../../am/storage/sealed-journal.ts";
import { TonyError } from "../../../src/errors.ts";
import { SteppedClock, turn } from "../../support/stepped-clock.ts";

type Asked = { readonly type: "asked"; readonly id: number };

/** A core that is told what happens, and a journal that may be broken. */
function setUp() {
  const clock = new SteppedClock();
  const heard: string[] = [];
  const journal: { broken: Error | undefined } = { broken: undefined };
  const own = new OwnCore<Asked, string>({
    clock,
    journal: {
      write: async () => {
        if (journal.broken !== undefined) throw journal.broken;
      },
    },
    post: (event) => {
      const about = "id" in event ? event.id : "sequence" in event ? event.sequence : "";
      heard.push(`${event.type} ${about}`.trim());
    },
    warn: (why) => void heard.push(`warned: ${why}`),
  });
  return { own, clock, heard, journal };
}

test("each call gets its own answer, whichever is answered first", async () => {
  const { own, heard } = setUp();
  const answers = [1, 2].map(() => own.ask((id) => ({ type: "asked", id })));
  expect(heard).toEqual(["asked 1", "asked 2"]);
  own.answer({ id: 2, answer: "second" });
  own.answer({ id: 1, answer: "first" });
  own.answer({ id: 1, answer: "again" });
  expect(await Promise.all(answers)).toEqual(["first", "second"]);
});

test("what became of a write is told, and nothing once nothing is written any more", async () => {
  const { own, heard, journal } = setUp();
  const write = (sequence: number) => own.write({ sequence, content: "{}", isWhole: true });
  await write(1);
  journal.broken = new Error("safe mode");
  await write(2);
  journal.broken = new TonyError("the job has ended", { code: journalClosed });
  await write(3);
  expect(heard).toEqual(["journal-written 1", "warned: safe mode", "journal-failed 2"]);
});

test("it wakes once, at the time that was asked for last, and again when that is asked for anew", async () => {
  const { own, clock, heard } = setUp();
  const atMs = (ms: number) => clock.nowMs() + ms;
  const first = atMs(2_000);
  own.wakeAt(first);
  own.wakeAt(first);
  const last = atMs(1_000);
  own.wakeAt(last);
  await clock.pass(999);
  expect(heard).toEqual([]);
  await clock.pass(2_000);
  expect(heard).toEqual(["wake-up"]);
  own.wakeAt(last);
  await clock.pass(0);
  await turn();
  expect(heard).toEqual(["wake-up", "wake-up"]);
});
