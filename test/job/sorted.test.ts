import { describe, expect, test } from "@jest/globals";
import { countBefore } from "../../src/job/sorted.ts";

describe("a sorted list", () => {
  test("says how many of its entries are before a place, wherever that is", () => {
    for (let length = 0; length < 9; length += 1) {
      const sorted = Array.from({ length }, (_, index) => index);
      for (let place = 0; place <= length; place += 1)
        expect(countBefore(sorted, (entry) => entry < place)).toBe(place);
    }
  });

  test("counts all that are equal, or none of them", () => {
    expect(countBefore([1, 2, 2, 2, 3], (entry) => entry <= 2)).toBe(4);
    expect(countBefore([1, 2, 2, 2, 3], (entry) => entry < 2)).toBe(1);
  });
});
