import { expect, test } from "@jest/globals";
import { amount, moment, plain, queued, silence, size, span } from "../../page/words.ts";

test("times, sizes and amounts are short", () => {
  expect([span(900), span(72_000), span(8_040_000)]).toEqual(["1 s", "1 min 12 s", "2 h 14 min"]);
  expect([span(59_499), span(59_500), span(3_599_499), span(3_600_000), span(7_199_000), span(-5)]).toEqual([
    "59 s",
    "1 min 0 s",
    "59 min 59 s",
    "1 h 0 min",
    "1 h 59 min",
    "0 s",
  ]);
  expect([size(0.5), size(1024), size(1024 ** 4), size(5000 * 1024 ** 4)]).toEqual([
    "0.5 B",
    "1 KiB",
    "1 TiB",
    "5000 TiB",
  ]);
  expect([amount(100.4), amount(99.95), amount(-1234.5)]).toEqual(["100", "100", "-1234"]);
  expect([size(0), size(1023), size(512 * 1024 ** 2), size(6.1 * 1024 ** 3)]).toEqual([
    "0 B",
    "1023 B",
    "512 MiB",
    "6.1 GiB",
  ]);
  expect([amount(0.40211), amount(97.14), amount(18_204.6), amount(-0.00012)]).toEqual([
    "0.402",
    "97.1",
    "18205",
    "-0.00012",
  ]);
});

test("a moment is told in local time, with two digits each", () => {
  expect(moment(new Date(2026, 0, 9, 3, 4, 5).getTime())).toBe("01-09 03:04:05");
  expect(moment(new Date(2026, 10, 21, 14, 2, 11).getTime())).toBe("11-21 14:02:11");
});

test("a time in the queue is told from ten seconds on, where it is known", () => {
  expect([queued(0, 95_000), queued(0, 10_000), queued(0, 9_999), queued(undefined, 95_000), queued(9, 0)]).toEqual([
    "after 1 min 35 s in the queue",
    "after 10 s in the queue",
    "",
    "",
    "",
  ]);
});

test("text from programs obeys nothing: no colours, no controls, nothing that turns it around", () => {
  expect(plain("\u001B[1;31mred\u001B[0m \u202Eevil\u202C \u001B]0;title\u0007")).toBe("red �evil� �]0;title�");
  expect(plain("מודל\tzwei\nlines")).toBe("מודל\tzwei\nlines");
});

test("a task that reports nothing is told how it would", () => {
  const named = (...names: readonly string[]) => silence(names.map((name) => ({ name })));
  expect(named("cpu", "memory")).toBe("no step and no metric yet: programs report them in TONY_PROGRESS_FILE");
  expect([named("step"), named("cpu", "step")]).toEqual(["", ""]);
  expect(named("metric:loss")).toBe("");
});
