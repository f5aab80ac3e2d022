import { expect, test } from "@jest/globals";
import { amount, size, span } from "../../page/words.ts";

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
