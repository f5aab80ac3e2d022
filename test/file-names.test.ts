import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { nameOf, onDisk, shownNames } from "../src/file-names.ts";

describe("the name of a file", () => {
  test("has bytes that are not UTF-8 as lone surrogates, and is shown with their numbers", () => {
    const latin = Buffer.from("caf\xe9.txt", "latin1");
    expect(nameOf(latin)).toBe("caf\udce9.txt");
    expect(shownNames(nameOf(latin))).toBe("caf\\xe9.txt");
    expect(nameOf(Buffer.from("café 日 😀"))).toBe("café 日 😀");
    expect(nameOf(Buffer.concat([Buffer.from("日"), Buffer.from([0xff]), Buffer.from("😀")]))).toBe("日\udcff😀");
    expect(shownNames("café 😀")).toBe("café 😀");
  });

  test("comes back to the same bytes, whatever they are, also through JSON", () => {
    const bytes = fc.uint8Array({ maxLength: 24 }).map((array) => Buffer.from(array));
    fc.assert(
      fc.property(bytes, (name) => {
        const text: unknown = JSON.parse(JSON.stringify(nameOf(name)));
        expect(text).toBe(nameOf(name));
        expect(Buffer.from(onDisk(nameOf(name)))).toEqual(name);
      }),
    );
  });
});
