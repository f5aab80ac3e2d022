import { describe, expect, test } from "@jest/globals";
import { Mailbox, type MailboxOptions } from "../../am/mailbox.ts";
import { SteppedClock, turn } from "../support/stepped-clock.ts";

function setUp(changes: Partial<MailboxOptions<string>> = {}) {
  const clock = new SteppedClock();
  const handled: string[] = [];
  const failures: unknown[] = [];
  const questions: ((current: boolean) => void)[] = [];
  let superseded = 0;
  const mailbox = new Mailbox<string>({
    clock,
    handle: (event) => handled.push(event),
    failed: (error) => failures.push(error),
    stoodStill: (gapMs) => `stood still ${gapMs}`,
    fence: {
      longestGapMs: 5_000,
      confirm: () => new Promise((resolve) => questions.push(resolve)),
      passes: (event) => event === "shutdown",
      superseded: () => {
        superseded += 1;
      },
    },
    ...changes,
  });
  return { clock, mailbox, handled, failures, questions, superseded: () => superseded };
}

describe("the mailbox", () => {
  test("what an event's handling posts waits until that handling is over", () => {
    const order: string[] = [];
    const { mailbox } = setUp({
      handle: (event) => {
        order.push(`${event} begins`);
        if (event === "a") mailbox.post("b");
        order.push(`${event} ends`);
      },
    });
    mailbox.post("a");

    expect(order).toEqual(["a begins", "a ends", "b begins", "b ends"]);
  });

  test("an error in the handling closes it and is told once", () => {
    const { mailbox, handled, failures } = setUp({
      handle: (event) => {
        if (event === "bad") throw new Error("defect");
      },
    });
    mailbox.post("bad");
    mailbox.post("good");

    expect(failures).toEqual([expect.objectContaining({ message: "defect" })]);
    expect(handled).toEqual([]);
  });

  test("what is posted after its end is ignored", () => {
    const { mailbox, handled } = setUp();
    mailbox.close();
    mailbox.post("late");

    expect(handled).toEqual([]);
  });

  test("an event whose handling closes it is the last one", () => {
    const handled: string[] = [];
    const { mailbox } = setUp({
      handle: (event) => {
        handled.push(event);
        mailbox.post("behind it");
        mailbox.close();
      },
    });
    mailbox.post("end");
    mailbox.post("late");

    expect(handled).toEqual(["end"]);
  });
});

describe("after the process stood still", () => {
  test("nothing is handled before somebody confirms that it is still in charge", async () => {
    const { clock, mailbox, handled, questions } = setUp();
    clock.standStill(6_000);
    mailbox.post("first");
    mailbox.post("second");
    expect(handled).toEqual([]);

    questions[0]?.(true);
    await turn();

    expect(handled).toEqual(["stood still 6000", "first", "second"]);
    expect(questions).toHaveLength(1);
  });

  test("the end of this attempt is handled at once all the same", () => {
    const { clock, mailbox, handled } = setUp();
    clock.standStill(6_000);
    mailbox.post("first");
    mailbox.post("shutdown");
    mailbox.post("second");

    expect(handled).toEqual(["shutdown"]);
  });

  test.each([true, false])("and was closed meanwhile, nothing comes of the answer: %s", async (current) => {
    const { clock, mailbox, handled, questions, superseded } = setUp();
    clock.standStill(6_000);
    mailbox.post("first");
    mailbox.close();
    questions[0]?.(current);
    await turn();
    mailbox.post("second");

    expect(handled).toEqual([]);
    expect(superseded()).toBe(0);
  });

  test("one that has been replaced handles nothing any more", async () => {
    const { clock, mailbox, handled, questions, superseded } = setUp();
    clock.standStill(6_000);
    mailbox.post("first");
    questions[0]?.(false);
    await turn();
    mailbox.post("second");

    expect(handled).toEqual([]);
    expect(superseded()).toBe(1);
  });

  test("and once more before that is confirmed, it is told of both before it hears what has waited", async () => {
    const { clock, mailbox, handled, questions } = setUp();
    clock.standStill(6_000);
    mailbox.post("first");
    clock.standStill(3_000);
    mailbox.post("second");
    questions[0]?.(true);
    await turn();
    expect(handled).toEqual(["stood still 3000", "stood still 6000", "first", "second"]);
  });

  test("signs of life within the gap keep it open", () => {
    const { clock, mailbox, handled } = setUp();
    clock.standStill(4_000);
    mailbox.tick();
    clock.standStill(4_000);
    mailbox.post("event");

    expect(handled).toEqual(["stood still 4000", "stood still 4000", "event"]);
  });

  test("that it did is handled before what waits, and a shorter while asks nobody", () => {
    const { clock, mailbox, handled, questions } = setUp();
    clock.standStill(2_000);
    mailbox.post("first");
    clock.standStill(2_001);
    mailbox.post("second");

    expect(handled).toEqual(["first", "stood still 2001", "second"]);
    expect(questions).toEqual([]);
  });
});
