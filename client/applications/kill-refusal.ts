import { ExitCode, UserError } from "../../src/errors.ts";
import { errorCode } from "../../src/hadoop/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { queueName } from "./job-filter.ts";

/** The code of an error which says that the user may not do this: asking again is of no use. */
const refused = "ACCESS_DENIED";

/** Whether an error says that this user may not end the job; the ResourceManager's own error, or that of {@link killRefusal}. */
export const isRefused = (error: unknown): boolean => errorCode(error) === refused;

/** The message to a user whom the ResourceManager does not let end an application: whose it is, and what would grant the right. */
export function killRefusal({ user: owner, queue }: ApplicationReport, user: string, cause: unknown): UserError {
  const grants = `tony.application.acl.modify of the job, acl_administer_queue of queue ${queueName(queue)}, or yarn.admin.acl`;
  return new UserError(`${user} may not end this job: it is ${owner}'s\n  What would grant the right: ${grants}`, {
    code: refused,
    exitCode: ExitCode.cluster,
    cause,
  });
}
