import { describe, expect, test } from "@jest/globals";
import { missingGenerations, noSuchGeneration } from "../../../client/logs/log-selection.ts";

describe("a generation that is asked for", () => {
  test("and does not exist is a mistake that names those there are", () => {
    expect(noSuchGeneration({ generation: 3 }, 2)).toMatchObject({
      message: "The job has no generation 3; it has 1 to 2",
      exitCode: 2,
    });
    expect(noSuchGeneration({ generation: 2 }, 2)).toBeUndefined();
    expect(noSuchGeneration({}, 1)).toBeUndefined();
  });
});

describe("output in a container that is gone", () => {
  test("is said to be missing where it is wanted", () => {
    const words = "ran in containers that are gone: their logs can be read when the job has ended";
    expect(missingGenerations("worker:0", 2, {})).toBe(`generation 1 of worker:0 ${words}`);
    expect(missingGenerations("worker:0", 4, { generation: 3 })).toBe(`generations 1 to 3 of worker:0 ${words}`);
  });

  test("is not spoken of where something later is wanted", () => {
    expect(missingGenerations("worker:0", 1, {})).toBeUndefined();
    expect(missingGenerations("worker:0", 2, { generation: 2 })).toBeUndefined();
    expect(missingGenerations("worker:0", 2, { tail: 5 })).toBeUndefined();
  });
});
