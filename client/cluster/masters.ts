import { formatHostPort } from "../../src/hadoop/conf/values.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import { nameNodeEndpoints } from "../../src/hadoop/hdfs/namenodes.ts";
import { HttpClient } from "../../src/hadoop/http/client.ts";
import { readText } from "../../src/hadoop/http/exchange.ts";
import { AuthenticationError } from "../../src/hadoop/security/errors.ts";
import { resourceManagerWebAddresses, webScheme } from "../../src/hadoop/yarn/endpoints.ts";
import type { Cluster } from "./cluster.ts";
import type { Finding } from "./findings.ts";
import { type Master, masterPaths, mastersFinding, nameNodeOf, resourceManagerOf, schedulerOf } from "./findings.ts";

const timeoutMs = 3_000;
const largestAnswerBytes = 4 << 20;

/** Asks each ResourceManager and each NameNode for its state. */
export async function mastersFindings({
  configuration,
  credentials,
}: Pick<Cluster, "configuration" | "credentials">): Promise<Finding[]> {
  const http = new HttpClient({ credentials, connectTimeoutMs: timeoutMs });
  try {
    const [managers, nameNodes] = await Promise.all([resourceManagers(), nameNodesOfDefault()]);
    return [...managers, ...nameNodes];
  } finally {
    http.close();
  }

  async function resourceManagers(): Promise<Finding[]> {
    const protocol = webScheme(configuration);
    const bases = resourceManagerWebAddresses(configuration).flatMap((address) =>
      address === undefined ? [] : [`${protocol}://${formatHostPort(address)}`],
    );
    if (bases.length === 0) return [];
    const masters = await Promise.all(bases.map((base) => asked(base, masterPaths.resourceManager, resourceManagerOf)));
    const active = bases[masters.findIndex(({ state }) => state === "active")];
    const scheduler = active === undefined ? undefined : await schedulerAt(active);
    return [mastersFinding("ResourceManager", masters, scheduler)];
  }

  async function nameNodesOfDefault(): Promise<Finding[]> {
    const { scheme, authority = "" } = splitUri(configuration.get("fs.defaultFS") ?? "")?.root ?? {};
    if (scheme !== "hdfs") return [];
    const masters = await Promise.all(
      nameNodeEndpoints(configuration, authority).map((base) => asked(base, masterPaths.nameNode, nameNodeOf)),
    );
    return [mastersFinding("NameNode", withoutGuesses(masters))];
  }

  /** Silence needs no explanation; a refusal does. */
  async function asked(
    base: string,
    path: string,
    read: (address: string, document: unknown) => Master,
  ): Promise<Master> {
    const address = new URL(base).host;
    try {
      return read(address, await ask(base, path));
    } catch (error) {
      const trouble = isRefusal(error) ? errorMessage(error).split("\n")[0]?.replace(`${address} `, "") : undefined;
      return trouble === undefined ? { address } : { address, trouble };
    }
  }

  async function schedulerAt(base: string): Promise<string | undefined> {
    return schedulerOf(await ask(base, masterPaths.scheduler).catch(() => undefined));
  }

  async function ask(base: string, path: string): Promise<unknown> {
    const url = new URL(path, base);
    const answer = await http.send(url, {
      method: "GET",
      idleTimeoutMs: timeoutMs,
      mayBeOpen: true,
      headers: { accept: "application/json" },
    });
    return JSON.parse(await readText(answer, url.host, largestAnswerBytes));
  }
}

/** Its certificate is not trusted, or it does not know us. */
function isRefusal(error: unknown): boolean {
  return error instanceof AuthenticationError || errorCode(error) === "HTTP_UNTRUSTED";
}

/** Where no web address is configured, both default ports are asked, and one of them answers. */
function withoutGuesses(masters: readonly Master[]): readonly Master[] {
  const nameOf = ({ address }: Master) => address.slice(0, address.lastIndexOf(":"));
  return masters.filter(
    (master, index) =>
      master.state !== undefined ||
      !masters.some((other, at) => nameOf(other) === nameOf(master) && (other.state !== undefined || at < index)),
  );
}
