import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { latestStored } from "../../../client/results/latest-stored.ts";
import { onThisMachine } from "../place.ts";

const id = "application_1795305600000_0009";
let home = "";
beforeAll(() => {
  home = mkdtempSync(path.join(tmpdir(), "tony-stored-"));
  const folder = path.join(home, "ckpt", id, "worker-0/step-7-at-5");
  mkdirSync(folder, { recursive: true });
  const list = { manifestVersion: 1, name: "w", step: 7, atMs: 5, files: [{ path: "w", sizeBytes: 1 }] };
  writeFileSync(path.join(folder, "_complete.json"), JSON.stringify(list));
  writeFileSync(path.join(folder, "w"), "1");
});
afterAll(() => rmSync(home, { recursive: true }));

const places = {
  locate: (address: string) => onThisMachine.locate(address),
  home: async () => ({ ...onThisMachine.locate("/"), path: home }),
};

test.each([
  ["by its path", () => `${home}/ckpt`],
  ["by its address", () => `file://${home}/ckpt//`],
  ["in the user's home", () => "ckpt"],
])("the latest checkpoint is found in a folder that is named %s", async (_, folder) => {
  expect(await latestStored(id, folder(), places)).toEqual({
    address: `file://${home}/ckpt/${id}/worker-0/step-7-at-5`,
    step: 7,
    atMs: 5,
  });
});

test.each([
  ["that is empty", () => `${home}/other`],
  ["that cannot be read", () => `${home}/ckpt/${id}/worker-0/step-7-at-5/w`],
  ["of a file system that nobody knows", () => "gs://bucket/ckpt"],
])("there is none in a folder %s", async (_, folder) => {
  expect(await latestStored(id, folder(), places)).toBeUndefined();
});
