import { UserError } from "../../src/errors.ts";
import type { KeytabLogin } from "../../src/hadoop/security/kerberos/gss-api.ts";
import { readSetting } from "../../src/job/build/read-settings.ts";
import type { Settings } from "../../src/job/settings.ts";

/** The login by a keytab; undefined where none is named. @throws UserError where nothing says which principal it is for */
export function keytabLogin(settings: Settings): KeytabLogin | undefined {
  const keytab = readSetting(settings, "tony.kerberos.keytab");
  if (keytab === undefined) return undefined;
  const principal = readSetting(settings, "tony.kerberos.principal");
  if (principal !== undefined) return { principal, keytab };
  const at = settings.get("tony.kerberos.keytab")?.at;
  const place = at === undefined ? "" : `${at}: `;
  throw new UserError(
    `${place}tony.kerberos.keytab needs tony.kerberos.principal, the principal to log in as; klist -kt ${keytab} shows whose keys are there`,
    { code: "JOB_INVALID" },
  );
}
