import { mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "@jest/globals";
import { StagingFolder } from "../../../executor/master/staging-folder.ts";
import { noCredentials } from "../../../src/hadoop/security/credentials.ts";
import { encodeJournalEntry } from "../../../src/journal/entry.ts";
import { anExecutorJob } from "../../support/api.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const { applicationId } = anExecutorJob();
const life = { applicationId, task: "worker:0", containerId: "c2", generation: 3 };

const folder = temporaryFolder();
let staging: StagingFolder;

beforeEach(() => {
  staging = new StagingFolder({ ...anExecutorJob(), stagingUrl: `file://${folder.path}` }, () => noCredentials);
});

describe("the newest ApplicationMaster, as the staging folder tells", () => {
  const announce = (attempt: number, content: unknown = { attempt, host: "node-1", port: 4000 + attempt }) =>
    writeFileSync(path.join(folder.path, `am-${attempt}.json`), JSON.stringify(content));

  it("is the highest attempt there, by number and not by name", async () => {
    for (const attempt of [2, 9, 10]) announce(attempt);
    writeFileSync(path.join(folder.path, "am-99.json.tmp"), "{");
    expect(await staging.look(life)).toEqual({ isReplaced: false, master: { attempt: 10, address: "node-1:4010" } });
  });

  it("is unknown when none has written its address, or when it cannot be read", async () => {
    expect(await staging.look(life)).toEqual({ isReplaced: false });
    announce(2, { attempt: 2, host: "node-1" });
    expect(await staging.look(life)).toEqual({ isReplaced: false });
  });
});

describe("the life of a task, as the staging folder tells", () => {
  /** @param containerId where the task lives by that snapshot */
  function journal(attempt: number, sequence: number, containerId: string, generation: number): string {
    const file = path.join(folder.path, "journal", String(attempt), String(sequence));
    mkdirSync(path.dirname(file), { recursive: true });
    const snapshot = { applicationId, tasks: [{ id: "worker:0", containerId, generation }] };
    writeFileSync(file, encodeJournalEntry({ attempt, sequence }, JSON.stringify(snapshot)));
    return file;
  }

  it("is over when the newest snapshot has a later one elsewhere", async () => {
    journal(1, 7, "c2", 3);
    expect(await staging.look(life)).toEqual({ isReplaced: false });
    journal(1, 8, "c5", 4);
    expect(await staging.look(life)).toEqual({ isReplaced: true });
  });

  it("is judged by the latest attempt's snapshot, whatever an earlier one still writes", async () => {
    journal(2, 1, "c2", 3);
    journal(1, 900, "c5", 4);
    expect(await staging.look(life)).toEqual({ isReplaced: false });
  });

  it("cannot be told while the newest snapshot is torn: an older one is no answer", async () => {
    journal(1, 7, "c5", 4);
    truncateSync(journal(1, 8, "c2", 3), 120);
    expect(await staging.look(life)).toBeUndefined();
  });

  it("is read once from each file, and anew for a later life", async () => {
    const file = journal(1, 7, "c2", 4);
    expect(await staging.look({ ...life, containerId: "c2" })).toEqual({ isReplaced: false });
    truncateSync(file, 120);
    expect(await staging.look({ ...life, containerId: "c2" })).toEqual({ isReplaced: false });
    expect(await staging.look({ ...life, containerId: "c2", generation: 4 })).toBeUndefined();
  });

  it("cannot be told when there is no folder", async () => {
    rmSync(folder.path, { recursive: true });
    expect(await staging.look(life)).toBeUndefined();
    mkdirSync(folder.path);
  });
});
