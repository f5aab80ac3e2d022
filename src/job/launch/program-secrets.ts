/** The prefix of a variable's name in YARN's credentials (org.apache.hadoop.security.Credentials#addSecretKey). */
const prefix = "tony.program.";

/** Values of programs' environment variables, in the form in which the containers' credentials carry them. */
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
