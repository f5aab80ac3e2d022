import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { LocalShipping } from "../../../client/submission/local-shipping.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "local-shipping-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function directory(name: string, content: string): string {
  const made = path.join(folder, name);
  mkdirSync(made);
  writeFileSync(path.join(made, "who"), content);
  return made;
}

describe("what a job on this machine ships", () => {
  test("directories that roles call alike are archives of their own", async () => {
    const shipping = new LocalShipping(folder, () => undefined);
    const of = (source: string) => shipping.localized([{ name: "venv", source, as: "archive" }]);
    const [[first], [second]] = await Promise.all([of(directory("a", "worker's")), of(directory("b", "the ps's"))]);
    expect([first?.link, second?.link]).toEqual(["venv", "venv"]);
    const contentOf = (url = "") => gunzipSync(readFileSync(url.replace("file://", ""))).toString();
    expect(contentOf(first?.url)).toContain("worker's");
    expect(contentOf(second?.url)).toContain("the ps's");
  });

  test("a file lies where it is, and an archive, too, which is unpacked", async () => {
    const [file, archive] = ["data.txt", "env.zip"].map((name) => path.join(folder, name));
    for (const one of [file, archive]) writeFileSync(one ?? "", "x");
    const placed = await new LocalShipping(folder, () => undefined).localized([
      { name: "data", source: `file://${file}`, as: "file" },
      { name: "venv", source: archive ?? "", as: "archive" },
    ]);
    expect(placed).toMatchObject([
      { link: "data", url: `file://${file}`, type: "FILE", sizeBytes: 1 },
      { link: "venv", url: `file://${archive}`, type: "ARCHIVE", sizeBytes: 1 },
    ]);
    for (const { modificationTimeMs } of placed) expect(Number.isInteger(modificationTimeMs)).toBe(true);
  });

  test("directories whose names are like the numbered ones of others are archives of their own", async () => {
    const shipping = new LocalShipping(folder, () => undefined);
    const names = ["venv-1", "venv", "1-venv"];
    const files = names.map((name) => ({ name, source: directory(name, name), as: "archive" as const }));
    const placed = await shipping.localized(files);
    expect(new Set(placed.map(({ url }) => url)).size).toBe(3);
  });

  test("what is left out of a directory that is packed is told by the name that it gets", async () => {
    const told: string[] = [];
    const source = directory("sources", "all");
    mkdirSync(path.join(source, ".git"));
    const shipping = new LocalShipping(folder, (line) => told.push(line.trim()));
    await shipping.localized([{ name: "src", source, as: "archive" }]);
    expect(told).toEqual(["src: 1 file, 3 B; left out: .git"]);
  });

  test("a directory is packed in its own way as an archive and as the working folder", async () => {
    const source = directory("sources", "all");
    mkdirSync(path.join(source, "__pycache__"));
    writeFileSync(path.join(source, "__pycache__", "who.pyc"), "");
    const of = async (as: "archive" | "working-directory") => {
      const [placed] = await shipping.localized([{ name: "src", source, as }]);
      return gunzipSync(readFileSync((placed?.url ?? "").replace("file://", ""))).includes("who.pyc");
    };
    const shipping = new LocalShipping(folder, () => undefined);
    expect([await of("archive"), await of("working-directory")]).toEqual([true, false]);
  });

  test("a directory of several roles is packed once, under the name that each gives it", async () => {
    const shipping = new LocalShipping(folder, () => undefined);
    const source = directory("env", "all");
    const of = (name: string) => shipping.localized([{ name, source, as: "archive" }]);
    const [[first], [second]] = await Promise.all([of("venv"), of("other")]);
    expect(second).toEqual({ ...first, link: "other" });
  });
});
