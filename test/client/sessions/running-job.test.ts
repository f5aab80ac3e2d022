import { expect, test } from "@jest/globals";
import type { Applications } from "../../../client/applications/applications.ts";
import { contactOfRunning } from "../../../client/sessions/running-job.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import { aReport } from "../application-report.ts";
import { aPlace } from "../place.ts";
import { recordedContext } from "../support.ts";

const running = aReport({ state: "RUNNING" });
const { id } = running;

const contactOf = (report: ApplicationReport, place: Partial<Applications> = {}) =>
  contactOfRunning(id, aPlace({ report: async () => report, ...place }), recordedContext({}));

test("the AM of a running job is asked where its report says that it is", async () => {
  const access = { applicationId: id, caller: { name: "ada", secret: new Uint8Array() } };
  const contact = { attempt: 1, host: "n1", port: 4000, access };
  const asked: unknown[] = [];
  const found = await contactOf(running, {
    contact: async (report) => {
      asked.push(report);
      return contact;
    },
  });
  expect([found, asked]).toEqual([contact, [running]]);
});

test.each<[string, ApplicationReport, string, string]>([
  [
    "has ended",
    aReport({ state: "FINISHED", finalStatus: "FAILED" }),
    "HAS_ENDED",
    `${id} has ended (FAILED): this needs a running job`,
  ],
  ["waits", aReport(), "NOT_RUNNING", `${id} does not run yet: queue ml has no room`],
  ["nobody can reach", running, "NOT_RUNNING", `The AM of ${id} cannot be asked: HDFS does not answer`],
])("a job that %s has none to ask", async (_, report, code, message) => {
  await expect(contactOf(report)).rejects.toMatchObject({ code, message, exitCode: 3 });
});
