import { readdirSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { removeSurplus } from "../../../executor/carrier/upload.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { CarrierScene } from "./scene.ts";

let scene: CarrierScene;
beforeEach(() => {
  scene = new CarrierScene();
});
afterEach(() => scene.remove());

test("an executor that is told to stop removes no further one of the earlier checkpoints: they may be another's by then", async () => {
  for (const step of [1, 2, 3, 4]) scene.write({ [`../stays/step-${step}-at-${step}/model`]: "w" });
  const stop = new AbortController();
  class Stopped extends LocalFileSystem {
    override async delete(target: string, options: { readonly recursive?: boolean }): Promise<boolean> {
      const isRemoved = await super.delete(target, options);
      stop.abort(new Error("replaced"));
      return isRemoved;
    }
  }
  await expect(removeSurplus(new Stopped(), scene.stays, 1, stop.signal)).rejects.toThrow("replaced");
  expect(readdirSync(scene.stays)).toHaveLength(3);
  await removeSurplus(new LocalFileSystem(), scene.stays, 1);
  expect(readdirSync(scene.stays)).toEqual(["step-4-at-4"]);
});
