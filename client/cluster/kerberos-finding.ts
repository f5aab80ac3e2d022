import type { KerberosLogin } from "../../src/hadoop/security/kerberos/login.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import type { Finding } from "./finding.ts";

/** What is needed of a Cluster. */
interface Loggable {
  readonly login: Pick<KerberosLogin, "keytab" | "credential"> | undefined;
}

/** A ticket that ends sooner is of little use to who follows a job. */
const soonSeconds = 3_600;

/** Who is logged in by Kerberos, and until when; nothing where that is not how one logs in. */
export async function kerberosFindings({ login }: Loggable): Promise<Finding[]> {
  if (login === undefined) return [];
  const { principal, remainingSeconds } = await login.credential();
  const left = `for another ${durationWords(remainingSeconds * 1_000)}`;
  if (login.keytab !== undefined) {
    return [
      { subject: "Kerberos", state: "well", found: `${principal} by ${login.keytab.keytab}, renewed before it ends` },
    ];
  }
  const found = `the ticket of ${principal} is valid ${left}`;
  if (remainingSeconds >= soonSeconds) return [{ subject: "Kerberos", state: "well", found }];
  return [{ subject: "Kerberos", state: "remark", found, remedy: "kinit, or kinit -R where it may be renewed" }];
}
