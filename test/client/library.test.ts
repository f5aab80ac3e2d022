import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { submit } from "../../client/library.ts";

describe("a job handed in by a program whose signal has fired", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tony-library-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("is not started on this machine, and nothing is left there", async () => {
    const job = path.join(folder, "job.xml");
    const settings = {
      "tony.application.framework": "generic",
      "tony.worker.instances": "1",
      "tony.worker.command": "true",
    };
    const properties = Object.entries(settings).map(
      ([k, v]) => `<property><name>${k}</name><value>${v}</value></property>`,
    );
    writeFileSync(job, `<configuration>${properties.join("")}</configuration>`);
    const environment = { ...process.env, HOME: folder, XDG_STATE_HOME: path.join(folder, "state") };
    const submitted = submit(job, { local: true, signal: AbortSignal.abort(), environment });
    await expect(submitted).rejects.toMatchObject({
      code: "NOT_SUBMITTED",
      message: "Nothing was submitted, and nothing is left on this machine",
    });
    expect(existsSync(path.join(folder, "state"))).toBe(false);
  });
});

test("an option that a program without types gives by mistake is named", async () => {
  const mistake: object = { "tony.worker.instances": 1 };
  await expect(submit(mistake)).rejects.toMatchObject({
    code: "USAGE",
    message:
      'submit() has no option "tony.worker.instances"; keys of a job go into its list conf: "tony.worker.instances=…"',
  });
});
