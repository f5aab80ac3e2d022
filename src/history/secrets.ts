import { escapeListItem, splitList } from "../job/keys/types.ts";
import type { JobSpec } from "../job/spec.ts";

/** Hadoop's own placeholder (org.apache.hadoop.conf.ConfigRedactor). */
const redacted = "<redacted>";
/** The default of hadoop.security.sensitive-config-keys, and similar names. */
const secretName = /pass(word|wd|phrase)|secret|token|credential|(access|account|encryption|private|api)[._-]?key/i;
const environmentKey = /\.envs$/;
/** Anybody who knows the address may post there. */
const addressKey = "tony.notify.url";

/** A setting as a job's history may contain it, which others can read. Values of variables are secrets more often than not. */
export function withoutSecret(key: string, value: string): string {
  if (environmentKey.test(key)) {
    return splitList(value)
      .map((pair) => escapeListItem(`${pair.split("=", 1)[0]}=${redacted}`))
      .join(",");
  }
  return key === addressKey || secretName.test(key) ? redacted : value;
}

/** The same for a job: it shows which variables are set, but not their values. */
export function withoutSecrets(spec: JobSpec): JobSpec {
  return {
    ...withoutAddress(spec),
    containerEnvironment: namesOf(spec.containerEnvironment),
    roles: spec.roles.map((role) => ({ ...role, environment: namesOf(role.environment) })),
  };
}

/** A job without the address that it posts to, which only the ApplicationMaster needs. */
export function withoutAddress({ am, ...others }: JobSpec): JobSpec {
  return { ...others, am: am.notifyUrl === undefined ? am : { ...am, notifyUrl: redacted } };
}

function namesOf(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(environment).map((name) => [name, redacted]));
}
