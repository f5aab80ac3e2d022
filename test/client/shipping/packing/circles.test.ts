import { expect, test } from "@jest/globals";
import { circles } from "../../../../client/shipping/packing/circles.ts";
import type { TarEntry } from "../../../../client/shipping/packing/tar.ts";

/** Of `a/`, a folder, `f`, a file, and `l>target`, a link. */
function found(...names: readonly string[]): string[] {
  const entries = names.map((name) => {
    const [path = "", target] = name.replace(/^([^>]*)\/$/, "$1").split(">");
    const common = { path, mode: 0o755, modificationTimeSeconds: 0 };
    const entry: TarEntry =
      target !== undefined
        ? { ...common, type: "symlink", target }
        : name.endsWith("/")
          ? { ...common, type: "directory" }
          : { ...common, type: "file", sizeBytes: 0 };
    return { entry, source: path, identity: "", changedAtMs: 0 };
  });
  return circles({ entries, leftOut: [] }).map(({ path }) => path);
}

test("a link to a folder that it lies in is found", () => {
  expect(found("f", "a/", "a/up>..")).toEqual(["a/up"]);
  expect(found("here>.")).toEqual(["here"]);
  expect(found("here>./", "a/", "a/up>../", "a/b/", "a/b/up>../../a/")).toEqual(["here", "a/up", "a/b/up"]);
  expect(found("a/", "a/b/", "a/b/up>../../a")).toEqual(["a/b/up"]);
});

test("so are links that lead to each other's folders, and to each other", () => {
  expect(found("a/", "a/x>../b", "b/", "b/y>../a")).toEqual(["b/y"]);
  expect(found("x>y", "y>x")).toEqual(["x", "y"]);
});

test("so is a link that leads back by way of another, also in the middle of its path", () => {
  expect(found("a/", "a/y>../x", "x>a")).toEqual(["a/y"]);
  expect(found("a/", "a/b/", "a/b/z>../../l/b", "l>a")).toEqual(["a/b/z"]);
});

test("as many links in a row as Linux follows are none", () => {
  const chain = (length: number) =>
    Array.from({ length }, (_, at) => `l${at}>${at + 1 < length ? `l${at + 1}` : "end"}`);
  expect(found("end/", ...chain(40))).toEqual([]);
  expect(found("end/", ...chain(41))).toEqual(["l0"]);
});

test.each([
  ["a link to a folder beside it", ["a/", "b/", "b/x>../a"]],
  ["a link to a file above it", ["f", "a/", "a/x>../f"]],
  ["lib64", ["lib/", "lib/f", "lib64>lib"]],
  ["two links to one folder", ["a/", "x>a", "y>x"]],
  ["a link out of the folder", ["a/", "a/x>/usr/lib"]],
  ["a link to nothing", ["x>none"]],
])("%s is none", (_what, names) => expect(found(...names)).toEqual([]));
