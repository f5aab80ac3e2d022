import { expect, test } from "@jest/globals";
import { isRefused, killRefusal } from "../../../client/applications/kill-refusal.ts";
import { RemoteError } from "../../../src/hadoop/rpc/remote-error.ts";
import { aReport } from "../application-report.ts";

test("whoever may not end a job is told whose it is, and what grants the right", () => {
  const cause = new RemoteError(
    "org.apache.hadoop.security.AccessControlException",
    "User bob cannot perform operation",
  );
  const refusal = killRefusal(aReport({ user: "alice", queue: "root.ml" }), "bob", cause);
  expect(refusal.message).toBe(
    "bob may not end this job: it is alice's\n" +
      "  What would grant the right: tony.application.acl.modify of the job, acl_administer_queue of queue ml, or yarn.admin.acl",
  );
  expect(refusal).toMatchObject({ exitCode: 3, cause });
  expect([refusal, cause, new Error("no answer")].map(isRefused)).toEqual([true, true, false]);
});
