import { describe, expect, test } from "@jest/globals";
import { costOf, costWords } from "../../src/job/cost.ts";
import { currency, price } from "../../src/job/keys/types.ts";
import { heldWords } from "../../src/job/reasons/words.ts";

const held = { memoryMiBSeconds: 2 * 1024 * 3600, vcoreSeconds: 3600, gpuSeconds: 1800 };

describe("what a job cost", () => {
  test("is the sum over what has a price", () => {
    const prices = { vcoreHourPrice: 1, gibHourPrice: 10, gpuHourPrice: 100 };
    expect(costOf(held, prices)).toEqual({ amount: 71 });
    expect(costOf(held, { gibHourPrice: 10, currency: "EUR" })).toEqual({ amount: 20, currency: "EUR" });
    expect(costOf({ memoryMiBSeconds: 0, vcoreSeconds: 3600 }, prices)).toEqual({ amount: 1 });
  });

  test("is not known without prices, and is nothing where all is free", () => {
    expect(costOf(held, { currency: "EUR" })).toBeUndefined();
    expect(costOf(held, { gpuHourPrice: 0 })).toEqual({ amount: 0 });
  });

  test("is told in two digits, or whole", () => {
    expect(costWords({ amount: 0.01234, currency: "EUR" })).toBe("0.012 EUR");
    expect(costWords({ amount: 62.4 })).toBe("62");
    expect(costWords({ amount: 1234.5, currency: "€" })).toBe("1235 €");
    expect(heldWords(held)).toBe("2 GiB·h, 1 core·h, 0.5 GPU·h");
    expect(heldWords({ memoryMiBSeconds: 0, vcoreSeconds: 0 })).toBe("0 GiB·h, 0 core·h");
  });
});

test("prices are plain decimals, and a currency is letters or its sign: it is shown on terminals", () => {
  expect(price.parse(" 0.04 ")).toBe(0.04);
  expect(price.parse("2")).toBe(2);
  for (const wrong of ["-1", "1e3", "0,04", "2 EUR", "", ".5"])
    expect(() => price.parse(wrong)).toThrow("a price such");
  expect(currency.parse("€")).toBe("€");
  for (const wrong of ["", "EU R", "\u001b[31m", "ABCDEFGHI", "<b>"])
    expect(() => currency.parse(wrong)).toThrow("a currency such");
});
