import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { RotatingLog } from "../src/rotating-log.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const limits = { maxBytes: 10, maxFiles: 2 };
const atOnce = (work: () => void) => work();

describe("a log that is closed at its limit", () => {
  const folder = temporaryFolder();
  let file = "";
  let log: RotatingLog;
  beforeEach(() => {
    file = path.join(folder.path, "stdout");
    log = new RotatingLog(file);
  });

  const write = (text: string) => appendFileSync(file, text);
  const names = () => readdirSync(folder.path).sort();
  function all(from = 0): string {
    let text = "";
    for (let at = log.firstFrom(from); at < log.sizeBytes; ) {
      const piece = log.read(at, 4);
      text += piece.toString();
      at += piece.length;
    }
    return text;
  }

  test("stays one file below it", async () => {
    write("123456789");
    await log.rotate(limits, atOnce);
    expect(names()).toEqual(["stdout"]);
    expect(log.sizeBytes).toBe(9);
  });

  test("goes on in an empty file; what was closed is named by the byte at which it begins, and read as one with the rest", async () => {
    write("one two three ");
    await log.rotate(limits, atOnce);
    write("four five six ");
    await log.rotate(limits, atOnce);
    write("seven");
    expect(names()).toEqual(["stdout", "stdout.000000000000", "stdout.000000000014"]);
    expect(readFileSync(file, "utf8")).toBe("seven");
    expect(log.sizeBytes).toBe(33);
    expect(all()).toBe("one two three four five six seven");
    expect(all(16)).toBe("ur five six seven");
  });

  test("keeps so many closed files, and says from where on it is there", async () => {
    for (const text of ["0123456789", "abcdefghij", "ABCDEFGHIJ"]) {
      write(text);
      await log.rotate(limits, atOnce);
    }
    expect(names()).toEqual(["stdout", "stdout.000000000010", "stdout.000000000020"]);
    expect(log.firstFrom(0)).toBe(10);
    expect(log.firstFrom(15)).toBe(15);
    expect(all()).toBe("abcdefghijABCDEFGHIJ");
  });

  test("has what comes while it is being closed", async () => {
    write("before, ");
    write("and ");
    await log.rotate(limits, (work) => {
      write("meanwhile");
      work();
    });
    expect(readFileSync(`${file}.000000000000`, "utf8")).toBe("before, and meanwhile");
    expect(readFileSync(file, "utf8")).toBe("");
  });

  test("is left as it is where its writers could not be held up, and closed later", async () => {
    write("0123456789");
    await log.rotate(limits, () => {});
    expect(names()).toEqual(["stdout"]);
    await log.rotate(limits, atOnce);
    expect(names()).toEqual(["stdout", "stdout.000000000000"]);
  });

  test("goes on where it was for the next writer", async () => {
    write("0123456789");
    await log.rotate(limits, atOnce);
    write("abc");
    log = new RotatingLog(file);
    expect(log.sizeBytes).toBe(13);
    expect(all(8)).toBe("89abc");
  });

  test("is there from the next file on when YARN has stored and removed one", async () => {
    for (const text of ["0123456789", "abcdefghij"]) {
      write(text);
      await log.rotate(limits, atOnce);
    }
    rmSync(`${file}.000000000000`);
    expect(log.firstFrom(3)).toBe(10);
    expect(log.sizeBytes).toBe(20);
    rmSync(`${file}.000000000010`);
    expect(log.firstFrom(3)).toBe(20);
  });

  test("of another name beside it is not its own", async () => {
    appendFileSync(path.join(folder.path, "other.stdout.000000000000"), "other");
    log = new RotatingLog(file);
    expect(log.sizeBytes).toBe(0);
    expect(existsSync(file)).toBe(false);
  });
});
