import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import { bundleProgram } from "../../scripts/bundle.mjs";
import { keepCodeCache, keptFiles } from "../../src/start/code-cache.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const sha256Length = 64;

/** Programs as they are shipped: a head, and the code behind it in a comment, or in a file beside it. */
describe("a program", () => {
  const folder = temporaryFolder();

  async function program(name: string, code: string, form = {}): Promise<string> {
    const entry = path.join(folder.path, `${name}.ts`);
    const outfile = path.join(folder.path, `${name}.cjs`);
    writeFileSync(entry, code);
    const { files } = await bundleProgram({ entryPoints: [entry], outfile }, form);
    for (const { path: file, contents } of files) writeFileSync(file, contents);
    return outfile;
  }

  function run(file: string, ...words: readonly string[]) {
    return runWith({}, file, ...words);
  }

  function runWith(variables: Readonly<Record<string, string>>, file: string, ...words: readonly string[]) {
    const env = { PATH: process.env.PATH, XDG_CACHE_HOME: folder.path, ...variables };
    const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...words], { encoding: "utf8", env });
    return { status, stdout, stderr };
  }

  function compile(file: string): string {
    expect(runWith({ TONY_CODE_CACHE_FOLDER: path.dirname(file) }, file).status).toBe(0);
    return `${file}.cache`;
  }

  test("runs its code whatever that holds, with its own words, name and modules", async () => {
    const code = `
      import { basename } from "node:path";
      const comment = \`/* é */ // two
lines\`.replace(/^[^\\u00e9]*/, "");
      void import("node:path").then(({ posix }) => {
        console.log(process.argv.slice(2).join(), basename(import.meta.url), posix.sep, comment);
      });
    `;
    expect(run(await program("words", code), "one", "two")).toEqual({
      status: 0,
      stdout: "one,two words.cjs / é */ // two\nlines\n",
      stderr: "",
    });
  });

  test.each([
    ["a character that is not ASCII", "console.log(/é/.source);\n", "not ASCII"],
    ["a raw line break", "console.log(String.raw`a\nb`);\n", "a line break"],
  ])("is not made of code with %s, which would not come back as it was", async (_what, code, message) => {
    await expect(program("refused", code)).rejects.toThrow(message);
  });

  test("of a container is without what the table of keys says to people, and with all else of it", async () => {
    const table = JSON.stringify(path.resolve("src/job/keys.ts"));
    const code = `
      import { keys } from ${table};
      const rows = Object.values(keys).filter(({ renamedTo }) => renamedTo === undefined);
      console.log(rows.length > 100, rows.filter(({ doc }) => doc !== "").length, keys["tony.am.memory"].default);
    `;
    expect(run(await program("container", code)).stdout).toBe("true 0 1g\n");
    const [, explained = ""] = run(await program("person", code, { forPeople: true })).stdout.split(" ");
    expect(Number(explained)).toBeGreaterThan(100);
  });

  test.each([
    ["in its own file", "thrower.cjs", {}],
    ["in the file beside it", "thrower.code.js", { forPeople: true }],
  ])("tells the place of an error %s", async (_where, place, form) => {
    const source = 'function fails() { throw new Error("planted"); }\nfails();\n';
    const { stderr } = run(await program("thrower", source, form));
    const [, name = "", line = "", column = ""] = /([\w.]+):(\d+):(\d+)\)/.exec(stderr) ?? [];
    expect(name).toBe(place);
    const text = readFileSync(path.join(folder.path, place), "latin1").split("\n")[Number(line) - 1] ?? "";
    expect(text.slice(Number(column) - 1)).toMatch(/^(new )?Error\("planted"\)/);
  });

  describe("with its code compiled beside it", () => {
    const said = (word: string) => `console.log(process.argv.length, ${JSON.stringify(word)});\n`;

    test("runs what was compiled; the file is its owner's alone", async () => {
      const ours = compile(await program("first", said("first")));
      const other = await program("other", said("other"));
      expect(statSync(ours).mode & 0o777).toBe(0o600);
      // Taken for the other's by its head, it shows that it is what runs.
      const sha256 = readFileSync(compile(other)).subarray(0, sha256Length);
      writeFileSync(`${other}.cache`, Buffer.concat([sha256, readFileSync(ours).subarray(sha256Length)]));
      expect(run(other).stdout).toBe("2 first\n");
    });

    test("leaves what another made first as it is: whoever sends that may be in the middle of it", async () => {
      const written = compile(await program("program", said("word")));
      const sent = path.join(folder.path, "sent");
      keepCodeCache(written, sent);
      const { ino } = statSync(sent, { bigint: true });
      keepCodeCache(written, sent);
      expect(statSync(sent, { bigint: true }).ino).toBe(ino);
      expect(readdirSync(folder.path).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    });

    test("has it also when it was killed before it could end", async () => {
      const waits = `require("node:fs").watch(${JSON.stringify(folder.path)}, () => process.kill(process.pid, "SIGKILL"));\n`;
      const file = await program("killed", waits);
      runWith({ TONY_CODE_CACHE_FOLDER: path.join(folder.path, "of-killed") }, file);
      expect(readdirSync(path.join(folder.path, "of-killed"))).toContain("killed.cjs.cache");
    });

    test("compiles anew when it was made of other code of the same length", async () => {
      const ours = compile(await program("first", said("first")));
      const other = await program("other", said("other"));
      writeFileSync(`${other}.cache`, readFileSync(ours));
      expect(run(other)).toEqual({ status: 0, stdout: "2 other\n", stderr: "" });
    });

    test.each([
      ["cut short", (bytes: Buffer) => bytes.subarray(0, -100)],
      ["of another V8", (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 64), Buffer.alloc(bytes.length - 64, 7)])],
      ["empty", () => Buffer.alloc(0)],
    ])("compiles anew when the file is %s", async (_what, damage) => {
      const file = await program("program", said("word"));
      const cache = compile(file);
      writeFileSync(cache, damage(readFileSync(cache)));
      expect(run(file)).toEqual({ status: 0, stdout: "2 word\n", stderr: "" });
    });

    test("compiles anew when there is a folder in its place", async () => {
      const file = await program("program", said("word"));
      mkdirSync(`${file}.cache`);
      expect(run(file)).toEqual({ status: 0, stdout: "2 word\n", stderr: "" });
    });
  });

  describe("that a person starts", () => {
    const home = () => path.join(folder.path, "tony-ts", "code");
    const caches = () => readdirSync(home()).map((name) => path.join(home(), name));

    test("keeps its code compiled for each command, in the user's own folder, and writes it once", async () => {
      const file = await program("typed", "console.log(process.argv[2]);\n", { forPeople: true });
      expect(run(file, "list").stdout).toBe("list\n");
      const [cache = ""] = caches();
      const { mtimeNs, mode } = statSync(cache, { bigint: true });
      expect([statSync(home()).mode & 0o777, Number(mode) & 0o777]).toEqual([0o700, 0o600]);
      expect(run(file, "list", "--json").stdout).toBe("list\n");
      expect(statSync(cache, { bigint: true }).mtimeNs).toBe(mtimeNs);
      run(file, "submit");
      run(file, "../else");
      run(file, "--help");
      expect(caches()).toHaveLength(3);
    });

    test("leaves aside what others could have written, and damage, and replaces it", async () => {
      const file = await program("typed", 'console.log("own");\n', { forPeople: true });
      run(file);
      const [cache = ""] = caches();
      const whole = readFileSync(cache);
      for (const [content, mode] of [
        [whole, 0o666],
        [whole.subarray(0, -50), 0o600],
      ] as const) {
        writeFileSync(cache, content);
        chmodSync(cache, mode);
        expect(run(file)).toEqual({ status: 0, stdout: "own\n", stderr: "" });
        expect([statSync(cache).mode & 0o777, statSync(cache).size]).toEqual([0o600, whole.length]);
      }
    });

    test.each([{ HOME: "/dev/null" }, { HOME: "/proc/none" }])("runs where no folder can be made: %j", async (env) => {
      const file = await program("typed", 'console.log("own");\n', { forPeople: true });
      const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8", env });
      expect([status, stdout, stderr]).toEqual([0, "own\n", ""]);
    });

    test("keeps no more than a few", async () => {
      const file = await program("typed", "console.log();\n", { forPeople: true });
      mkdirSync(home(), { recursive: true });
      const name = (index: number) => `${String(index).padStart(32, "0")}.cache`;
      for (let index = 0; index < keptFiles; index += 1) writeFileSync(path.join(home(), name(index)), "");
      utimesSync(path.join(home(), name(7)), 0, 0);
      run(file);
      expect(caches()).toHaveLength(keptFiles);
      expect(caches()).not.toContain(path.join(home(), name(7)));
    });
  });
});
