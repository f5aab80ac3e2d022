import { escapeListItem, splitList } from "../job/keys/types.ts";
import type { JobSpec } from "../job/spec.ts";

/** Hadoop's own word (org.apache.hadoop.conf.ConfigRedactor). */
const redacted = "<redacted>";
/** What hadoop.security.sensitive-config-keys has by default, and its like. */
const secretName = /pass(word|wd|phrase)|secret|token|credential|(access|account|encryption|private|api)[._-]?key/i;
const environmentKey = /\.envs$/;

/** A setting as a job's history may have it: others can read that. Values of variables are secrets more often than not. */
export function withoutSecret(key: string, value: string): string {
  if (environmentKey.test(key)) {
    return splitList(value)
      .map((pair) => escapeListItem(`${pair.split("=", 1)[0]}=${redacted}`))
      .join(",");
  }
  return secretName.test(key) ? redacted : value;
}

/** The same for a job: which variables it sets is told, but not to what. */
export function withoutSecrets(spec: JobSpec): JobSpec {
  return {
    ...spec,
    containerEnvironment: namesOf(spec.containerEnvironment),
    roles: spec.roles.map((role) => ({ ...role, environment: namesOf(role.environment) })),
  };
}

function namesOf(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(environment).map((name) => [name, redacted]));
}
