import { expect, test } from "@jest/globals";
import { closedLogName, parseLogFileName } from "../../src/job/closed-log.ts";

test("the names of closed logs tell their log and where they begin, and are in order as text", () => {
  const starts = [0, 9, 10, 999_999_999_999];
  const names = starts.map((start) => closedLogName("trainer-0.stdout", start));
  expect(names[2]).toBe("trainer-0.stdout.000000000010");
  expect(names.map(parseLogFileName)).toEqual(starts.map((start) => ({ log: "trainer-0.stdout", start })));
  expect([...names].sort()).toEqual(names);
  expect(parseLogFileName(closedLogName("am.log", 5_000_000_000_000))).toEqual({ log: "am.log", start: 5e12 });
});

test("a log that is written to, and a file of a program's own, are not taken for closed ones", () => {
  for (const name of ["stdout", "am.log", "core.1234", "stdout.000000000010.unfinished"])
    expect(parseLogFileName(name)).toEqual({ log: name, start: undefined });
});
