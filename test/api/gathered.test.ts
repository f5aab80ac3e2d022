import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { Gathered, MOST_TOGETHER } from "../../src/api/gathered.ts";

let sent: (readonly string[])[];
let gathered: Gathered<string>;
beforeEach(() => {
  jest.useFakeTimers();
  sent = [];
  gathered = new Gathered((together) => sent.push(together));
});
afterEach(() => void jest.useRealTimers());

/** All of these within one turn of the event loop. @returns the messages in which they were sent */
function sentOf(items: readonly string[]): (readonly string[])[] {
  for (const item of items) gathered.add(item);
  jest.runAllTimers();
  return sent.splice(0);
}

const most = Array.from({ length: MOST_TOGETHER }, (_, number) => String(number));
/** As text it counts half of what may go together. */
const half = "x".repeat((32 << 10) - 4);

describe("what comes within one turn of the event loop", () => {
  test("is sent together, in its order, once the turn is over; so it is in each further turn", () => {
    for (const turn of [1, 2, 3]) {
      gathered.add(`${turn}`);
      expect(sent).toEqual([]);
      expect(sentOf(["a", "b"])).toEqual([[`${turn}`, "a", "b"]]);
    }
    expect(sentOf([])).toEqual([]);
  });

  test("is sent in several messages where it is too many, or too much, however much was sent before", () => {
    for (const _ of [1, 2]) {
      expect(sentOf(most)).toEqual([most]);
      expect(sentOf([...most, "one more"])).toEqual([most, ["one more"]]);
      expect(sentOf([half, half])).toEqual([[half, half]]);
      expect(sentOf([half, "y", half, half])).toEqual([
        [half, "y"],
        [half, half],
      ]);
    }
  });

  test("is sent alone where it is too much by itself", () => {
    const long = half.repeat(3);
    expect(sentOf(["a", long, "b"])).toEqual([["a"], [long], ["b"]]);
  });
});
