import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "@jest/globals";
import { LinkedFiles } from "../../../am/scheduler/in-place/linked-files.ts";
import type { ShippedFile } from "../../../src/job/stored/job-file.ts";

test("a task in the ApplicationMaster's container finds that one's files under their names, also below folders", async () => {
  const root = await mkdtemp(path.join(tmpdir(), "tony-links-"));
  const own = path.join(root, "am");
  await mkdir(path.join(own, "conf"), { recursive: true });
  await writeFile(path.join(own, "train.py"), "train");
  await writeFile(path.join(own, "conf/a.json"), "{}");
  const file = (link: string): ShippedFile => ({
    ...{ link, url: "hdfs://nn/elsewhere", sizeBytes: 1, modificationTimeMs: 1, type: "FILE", visibility: "PRIVATE" },
  });

  const task = path.join(root, "task");
  await new LinkedFiles(own).place([file("train.py"), file("conf/a.json")], task);
  expect(await readFile(path.join(task, "train.py"), "utf8")).toBe("train");
  expect(await readFile(path.join(task, "conf/a.json"), "utf8")).toBe("{}");
  await rm(root, { recursive: true });
});
