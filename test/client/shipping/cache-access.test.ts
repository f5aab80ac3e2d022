import { expect, test } from "@jest/globals";
import { cacheOfJobs } from "../../../client/shipping/cache-access.ts";
import { onThisMachine } from "../place.ts";

test("files of jobs go where the settings say, as many times as all nodes need them, and are trusted as the cluster knows people", () => {
  const root = onThisMachine.locate("file:///staging");
  const cluster = { fileSystems: onThisMachine, user: "ada", isSecured: true, sharedReplicas: 4 };
  const settings = { cacheDir: "file:///cache", trustedOwners: ["bob"] };
  expect(cacheOfJobs(cluster, root, settings)).toEqual({
    ...{ fileSystems: onThisMachine, stagingRoot: root, user: "ada" },
    ...{ ...settings, believesNames: false, replicas: 4 },
  });
  expect(cacheOfJobs({ ...cluster, isSecured: false }, root, settings)).toMatchObject({ believesNames: true });
});
