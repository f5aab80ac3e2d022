import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { LocalScheduler } from "../../../am/scheduler/local/local-scheduler.ts";
import { describeScheduler } from "../../support/scheduler-contract.ts";

describeScheduler("this machine", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tony-local-scheduler-"));
  const scheduler = new LocalScheduler({
    ownContainerId: "container_1795305600000_0001_01_000001",
    folder: path.join(folder, "containers"),
    user: "alice",
    capacity: { memoryMiB: 4096, vcores: 2, others: {} },
  });
  return {
    scheduler,
    async store(name, content) {
      const file = path.join(folder, name);
      writeFileSync(file, content);
      const { size, mtimeMs } = statSync(file);
      const modificationTimeMs = Math.floor(mtimeMs);
      const url = `file://${file}`;
      return { link: name, url, sizeBytes: size, modificationTimeMs, type: "FILE", visibility: "APPLICATION" };
    },
    async dispose() {
      rmSync(folder, { recursive: true });
    },
  };
});
