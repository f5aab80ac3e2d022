import { describe, expect, test } from "@jest/globals";
import type { Applications } from "../../../client/applications/applications.ts";
import { pageAddress } from "../../../client/sessions/page-address.ts";
import { clientAccessFile } from "../../../src/api/identity.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import { anExecutorJob } from "../../support/api.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { aReport } from "../application-report.ts";
import { aPlace } from "../place.ts";

const id = "application_1795305600000_0009";

/** A cluster with that job and its staging folder. */
function place(report: Partial<ApplicationReport>, am: { readonly page?: boolean }): Applications {
  const spec = aJobSpec();
  const files = { files: { master: [], all: [], byRole: {} }, node: "node", sharedLabels: [], resourceTypes: [] };
  const job = { ...anExecutorJob(), ...files, spec: { ...spec, am: { ...spec.am, ...am } } };
  const content = (name: string) => (name === clientAccessFile ? { pageKey: "a-key" } : job);
  return aPlace({
    report: async () => aReport({ id, state: "RUNNING", ...report }),
    readStaged: async (_id, name) => Buffer.from(JSON.stringify(content(name))),
  });
}

describe("the address of a job's page", () => {
  test("is that of YARN's proxy, with what shows the whole job in the part that no browser sends", async () => {
    const address = await pageAddress(id, place({}, { page: true }));
    expect(address).toBe(`http://127.0.0.1:8088/proxy/${id}/#a-key`);
  });

  test.each([
    ["has ended", { state: "FINISHED" }, {}, `${id} has ended`],
    ["is somebody else's", { user: "bob" }, {}, `${id} is bob's`],
    ["was submitted without", {}, {}, "-conf tony.am.page.enabled=true"],
    ["does not run yet", { state: "ACCEPTED" }, { page: true }, "does not run yet"],
  ] as const)("is none of a job that %s", async (_what, report, am, words) => {
    await expect(pageAddress(id, place(report, am))).rejects.toThrow(words);
  });

  test("is none of a job of this machine, nor where its folder cannot be read", async () => {
    const running = { report: async () => aReport({ id, state: "RUNNING" }) };
    await expect(pageAddress(id, aPlace(running))).rejects.toThrow("A job of this machine has no page");
    const readStaged = () => Promise.reject(new Error("permission denied"));
    await expect(pageAddress(id, aPlace({ ...running, readStaged }))).rejects.toMatchObject({
      code: "NO_PAGE",
      message: `The staging folder of ${id} cannot be read: permission denied`,
    });
  });
});
