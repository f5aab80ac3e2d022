import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { shippedKeytab } from "../../../client/submission/shipped-keytab.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { sha256Of } from "../../../src/job/stored/job-keytab.ts";
import { settings } from "../../support/settings.ts";

const folder = mkdtempSync(path.join(tmpdir(), "tony-shipped-keytab-"));
afterAll(() => rmSync(folder, { recursive: true }));

const fileOf = (name: string, text: string) => {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
};
const keytab = fileOf("ada.keytab", "keys");
const program = fileOf("tokens.cjs", "program");
const native = fileOf("koffi.node", "native");
const installed = { programOf: () => program, nativeModuleOf: () => native };
const configuration = new Configuration().withValues({ "yarn.resourcemanager.principal": "rm/_HOST@EXAMPLE" });
const secured = { isSecured: true, configuration };
const named = { "tony.kerberos.keytab": keytab, "tony.kerberos.principal": "ada@EXAMPLE" };
const shipped = { ...named, "tony.kerberos.ship-keytab": "true" };

describe("a job's keytab", () => {
  test("stays where it is unless the job sends it along, and where the cluster believes names", async () => {
    expect(await shippedKeytab(settings(named), secured, installed)).toBeUndefined();
    expect(await shippedKeytab(settings(shipped), { ...secured, isSecured: false }, installed)).toBeUndefined();
  });

  test("travels with the program that logs in by it and koffi's native module, each with its hash", async () => {
    const { content, items = [], keytab: told } = (await shippedKeytab(settings(shipped), secured, installed)) ?? {};
    expect(content?.toString()).toBe("keys");
    const link = `koffi-${process.arch}.node`;
    expect(items).toEqual([
      { link: "tokens.cjs", source: program, as: "file", shared: true },
      { link, source: native, as: "file", shared: true },
    ]);
    expect(told).toEqual({
      principal: "ada@EXAMPLE",
      sha256: sha256Of(Buffer.from("keys")),
      program: { link: "tokens.cjs", sha256: sha256Of(Buffer.from("program")) },
      nativeModules: { [process.arch]: { link, sha256: sha256Of(Buffer.from("native")) } },
      hadoop: { "yarn.resourcemanager.principal": "rm/_HOST@EXAMPLE" },
    });
  });

  test("goes to nodes of every architecture that the job names a runtime for", async () => {
    const both = settings({
      ...shipped,
      "tony.node.binary.x64": "hdfs://ns/x",
      "tony.node.binary.arm64": "hdfs://ns/a",
    });
    const { keytab: told } = (await shippedKeytab(both, secured, installed)) ?? {};
    expect(Object.keys(told?.nativeModules ?? {}).sort()).toEqual(["arm64", "x64"]);
  });

  test("has to be named", async () => {
    const unnamed = settings({ "tony.kerberos.ship-keytab": "true" });
    await expect(shippedKeytab(unnamed, secured, installed)).rejects.toMatchObject({
      code: "JOB_INVALID",
      message: expect.stringMatching(
        /^job.xml:1: tony.kerberos.ship-keytab is true, and tony.kerberos.keytab names no keytab/,
      ),
    });
  });

  test("cannot travel without koffi: the error names the package and the command that installs it", async () => {
    const cause = new Error("Cannot find module");
    const missing = { ...installed, nativeModuleOf: () => raise(cause) };
    await expect(shippedKeytab(settings(shipped), secured, missing)).rejects.toMatchObject({
      code: "KOFFI_MISSING",
      exitCode: 2,
      cause,
      message: expect.stringMatching(/@koromix\/koffi-linux-\w+, .*\n {2}npm install -g .*@koromix\/koffi-linux-\w+@/),
    });
  });
});

function raise(error: Error): never {
  throw error;
}
