import { expect, test } from "@jest/globals";
import { amount, plain, silence, size, span } from "../../page/words.ts";

test("times, sizes and amounts are short", () => {
  expect([span(900), span(72_000), span(8_040_000)]).toEqual(["1 s", "1 min 12 s", "2 h 14 min"]);
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

test("text from programs obeys nothing: no colours, no controls, nothing that turns it around", () => {
  expect(plain("\u001B[1;31mred\u001B[0m \u202Eevil\u202C \u001B]0;title\u0007")).toBe("red �evil� �]0;title�");
  expect(plain("מודל\tzwei\nlines")).toBe("מודל\tzwei\nlines");
});

test("a task that reports nothing is told how it would", () => {
  const named = (...names: readonly string[]) => silence(names.map((name) => ({ name })));
  expect(named("cpu", "memory")).toBe("no step and no metric yet: programs report them in TONY_PROGRESS_FILE");
  expect(named("cpu", "step")).toBe("");
  expect(named("metric:loss")).toBe("");
});
