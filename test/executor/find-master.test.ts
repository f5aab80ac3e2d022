import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { findMaster } from "../../executor/find-master.ts";
import { anExecutorJob } from "../support/api.ts";

describe("the newest ApplicationMaster, as the staging folder tells", () => {
  let folder = "";

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tony-staging-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const announce = (attempt: number, content: unknown = { attempt, host: "node-1", port: 4000 + attempt }) =>
    writeFileSync(path.join(folder, `am-${attempt}.json`), JSON.stringify(content));
  const find = () => findMaster({ ...anExecutorJob(), stagingUrl: `file://${folder}` });

  it("is the highest attempt there, by number and not by name", async () => {
    for (const attempt of [2, 9, 10]) announce(attempt);
    writeFileSync(path.join(folder, "am-99.json.tmp"), "{");
    expect(await find()).toEqual({ attempt: 10, address: "node-1:4010" });
  });

  it("is unknown when none has written its address", async () => {
    expect(await find()).toBeUndefined();
  });

  it("is unknown when the address cannot be read, rather than an error", async () => {
    announce(2, { attempt: 2, host: "node-1" });
    expect(await find()).toBeUndefined();
  });

  it("is unknown when the folder cannot be reached, rather than an error", async () => {
    expect(await findMaster({ ...anExecutorJob(), stagingUrl: "file:///no/such/folder" })).toBeUndefined();
  });
});
