/** What precedes a variable's name in YARN's credentials (org.apache.hadoop.security.Credentials#addSecretKey). */
const prefix = "tony.program.";

/** Values of programs' environment variables, as they travel in the credentials of the job's containers. */
export function programSecrets(values: ReadonlyMap<string, string>): Map<string, Uint8Array> {
  return new Map([...values].map(([name, value]) => [prefix + name, Buffer.from(value)]));
}

/** The variables among a container's secrets. */
export function programSecretsIn(secrets: ReadonlyMap<string, Uint8Array>): Record<string, string> {
  return Object.fromEntries(
    [...secrets].flatMap(([name, value]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), Buffer.from(value).toString("utf8")]] : [],
    ),
  );
}
