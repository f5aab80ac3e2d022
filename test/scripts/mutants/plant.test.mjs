import { describe, expect, test } from "@jest/globals";
import { plant } from "../../../scripts/mutants/plant.mjs";
import { readMutants } from "../../mutants/mutants.mjs";

describe("a bug is planted", () => {
  const text = `// é: what stands before counts in bytes
const LIMITS = { most: 3 };
export class Door {
  #open = false;
  enter(who: string): void {
    if (this.#open && isKnown(who, LIMITS.most)) this.#let(who);
  }
  leave(): void {}
}
class Gate {
  leave(): void {}
}
export function isKnown(who: string, most: number): boolean {
  return who.length < most;
}
`;
  const edit = { file: "door.ts", find: "most", replace: "least" };

  test.each([
    [{ inside: "isKnown", find: "who.length <", replace: "who.length <=" }, "return who.length <= most;"],
    [{ inside: "enter", find: "this.#open &&", replace: "" }, "if ( isKnown(who, LIMITS.most)) this.#let(who);"],
    [{ inside: "#open", find: "false", replace: "true" }, "#open = true;"],
    [{ inside: "LIMITS", find: "most: 3", replace: "most: 4" }, "const LIMITS = { most: 4 };"],
    [{ inside: "Gate.leave", find: "leave() : void", replace: "leave(): never" }, "class Gate {\n  leave(): never {}"],
  ])("in %p", (planted, wanted) => {
    expect(plant({ ...edit, ...planted }, text).mutated).toContain(wanted);
  });

  test("however the formatter lays its place out", () => {
    const laidOut = text.replace("isKnown(who, LIMITS.most)", "isKnown(\n        who,\n        LIMITS.most,\n      )");
    const { mutated } = plant(
      { ...edit, inside: "enter", find: "isKnown(who, LIMITS.most)", replace: "true" },
      laidOut,
    );
    expect(mutated).toContain("if (this.#open && true) this.#let(who);");
  });

  test("and refused where its place is not there once, or its function is not", () => {
    expect(plant({ ...edit, inside: "isKnown" }, text).problem).toBe(
      "isKnown of door.ts has this 2 times instead of once: most",
    );
    expect(plant({ ...edit, inside: "isKnown", find: "mos" }, text).problem).toContain("has this 0 times");
    expect(plant({ ...edit, inside: "isOpen" }, text).problem).toBe("door.ts declares isOpen 0 times instead of once");
    expect(plant({ ...edit, inside: "leave" }, text).problem).toBe("door.ts declares leave 2 times instead of once");
  });
});

test("a list says what is planted where, and what notices it", () => {
  const list = `# A comment
src/door.ts, noticed by door.test
  everybody comes in
    enter: isKnown(who) && →
src/gate.ts, noticed by simulation 30
  it stays open
    close: false → true
`;
  expect(readMutants(list)).toEqual([
    {
      bug: "everybody comes in",
      file: "src/door.ts",
      caughtBy: { unit: "door.test" },
      inside: "enter",
      find: "isKnown(who) &&",
      replace: "",
    },
    {
      bug: "it stays open",
      file: "src/gate.ts",
      caughtBy: { simulation: 30 },
      inside: "close",
      find: "false",
      replace: "true",
    },
  ]);
  expect(() => readMutants("everybody comes in")).toThrow(
    "line 1 of the list is no file, bug or edit: everybody comes in",
  );
});
