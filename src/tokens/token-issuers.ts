import { ExitCode, UserError } from "../errors.ts";
import type { Configuration } from "../hadoop/conf/configuration.ts";
import { formatHostPort } from "../hadoop/conf/values.ts";
import { errorMessage } from "../hadoop/errors.ts";
import {
  type DelegationTokenOptions,
  hdfsDelegationToken,
  hdfsTokenService,
  keyProvider,
  kmsDelegationToken,
} from "../hadoop/hdfs/delegation-token.ts";
import { splitUri } from "../hadoop/hdfs/file-systems.ts";
import type { NamedToken } from "../hadoop/security/credentials.ts";
import type { CredentialsProvider } from "../hadoop/security/credentials-provider.ts";
import type { Token } from "../hadoop/security/token.ts";
import { tokenServiceOf } from "../hadoop/security/token-service.ts";
import {
  resourceManagerTokenService,
  timelineDelegationToken,
  timelineServer,
  tokenRenewer,
} from "../hadoop/yarn/delegation.ts";
import type { JobSpec } from "../job/spec.ts";
import type { JobFile } from "../job/stored/job-file.ts";

/** A cluster whose services issue delegation tokens to users who are logged in by Kerberos. */
export interface IssuingCluster {
  readonly configuration: Configuration;
  /** The credentials of the logged-in user. */
  readonly own: CredentialsProvider;
  readonly fileSystems: { locate(pathOrUri: string): { readonly fileSystem: { readonly uri: string } } };
  readonly resourceManager: { delegationToken(renewer: string): Promise<Token> };
}

/** A file system that a job's processes, or YARN's nodes on their behalf, read or write. */
export interface UsedFileSystem {
  /** Any path on it. */
  readonly uri: string;
  /** The setting in which a person named it only for its token. */
  readonly namedBy?: string;
}

/** A service that issues delegation tokens. */
export interface TokenIssuer {
  /** `hdfs://nameservice`, `the ResourceManager`. */
  readonly name: string;
  /** The service name of its tokens; see isServiceOf. */
  readonly service: string;
  readonly namedBy?: string;
  /** What is impossible without its token, if a job can run without that. */
  readonly lack?: string;
  /** A job runs without its token if it issues none. */
  readonly isOptional?: true;
  /** What a job would need in order to run without its token. */
  readonly otherwise?: string;
  readonly obtain: () => Promise<Token>;
}

const otherNameNodesKey = "tony.other.namenodes";
const gatewayKey = "tony.hdfs.endpoint";
/** The ResourceManager itself obtains a token of the default file system for an application that brings none, and gives it only to nodes. */
const managerObtainsKey = "yarn.resourcemanager.proxy-user-privileges.enabled";
/** NameNodes whose tokens the ResourceManager must not renew, because it cannot reach them. */
const notRenewedKey = "mapreduce.job.hdfs-servers.token-renewal.exclude";

/**
 * The file systems of a job: those of its files, its feeds, its staging folder and its output; the HttpFS that its own processes use, which
 * accepts no NameNode's token; and `tony.other.namenodes`.
 */
export function usedFileSystems(
  spec: JobSpec,
  shipped: JobFile["files"],
  stagingUrl: string,
  hdfsEndpoint: string | undefined,
): readonly UsedFileSystem[] {
  const { checkpointDir, resumeFrom, history, carrier, search, otherNameNodes = [], feeds = [], sources } = spec;
  const files = [...shipped.master, ...shipped.all, ...Object.values(shipped.byRole).flat()].map(({ url }) => url);
  const written = [carrier?.output?.dir, search?.outputDir];
  const folders = [stagingUrl, checkpointDir, resumeFrom, history.location, ...written];
  const at = sources[otherNameNodesKey];
  const namedBy = at === undefined ? otherNameNodesKey : `${otherNameNodesKey} (${at})`;
  const fed = feeds.flatMap(({ input, output }) => [...input, output]);
  const used = [...folders, ...files, ...fed].flatMap((uri) => (uri === undefined ? [] : [{ uri }]));
  return [...used, ...gatewayOf(hdfsEndpoint), ...otherNameNodes.map((uri) => ({ uri, namedBy }))];
}

/** Knox, whose address has a path, authenticates by something other than Hadoop's tokens. */
function gatewayOf(hdfsEndpoint: string | undefined): readonly UsedFileSystem[] {
  const url = hdfsEndpoint !== undefined && URL.canParse(hdfsEndpoint) ? new URL(hdfsEndpoint) : undefined;
  if (url?.pathname !== "/") return [];
  const scheme = url.protocol === "https:" ? "swebhdfs" : "webhdfs";
  return [{ uri: `${scheme}://${url.host}/`, namedBy: gatewayKey }];
}

/** The services that are to issue tokens: these file systems, each once, the key server of encryption zones, and the ResourceManager. */
export async function tokenIssuers(
  { configuration, own, resourceManager, fileSystems }: IssuingCluster,
  used: readonly UsedFileSystem[],
): Promise<readonly TokenIssuer[]> {
  const renewer = await tokenRenewer(configuration);
  const notRenewed = configuration.getList(notRenewedKey);
  const isBehindGateway = used.some(({ namedBy }) => namedBy === gatewayKey);
  const issuers = new Map<string, TokenIssuer>();
  for (const { uri, namedBy } of used) {
    const root = fileSystems.locate(uri).fileSystem.uri;
    const service = hdfsTokenService(root, configuration);
    if (service === undefined || issuers.has(service)) continue;
    const isRenewed = !notRenewed.includes(hostOf(root));
    const options: DelegationTokenOptions = { configuration, credentials: own, renewer: isRenewed ? renewer : "" };
    const obtain = () => hdfsDelegationToken(root, options);
    const isSpared = isBehindGateway && root === fileSystems.locate("/").fileSystem.uri;
    const ifNone = isSpared ? behindGateway(root, configuration) : {};
    issuers.set(service, { name: root, service, obtain, ...(namedBy !== undefined && { namedBy }), ...ifNone });
  }
  const keys = keyProvider(configuration);
  if (keys !== undefined) {
    const obtain = () => kmsDelegationToken(keys, { credentials: own, renewer });
    const lack = `files of encryption zones cannot be read: no token of the key server ${keys} is among them`;
    issuers.set(keys, { name: `The key server ${keys}`, service: keys, lack, obtain });
  }
  const timeline = await timelineIssuer(configuration, own, renewer);
  const service = await resourceManagerTokenService(configuration);
  const obtain = async () => ({ ...(await resourceManager.delegationToken(renewer)), service });
  return [...issuers.values(), ...timeline, { name: "The ResourceManager", service, obtain }];
}

/** A job's own processes have the gateway's token; nodes, which fetch its files and store its logs, need one of the file system itself. */
function behindGateway(
  root: string,
  configuration: Configuration,
): Pick<TokenIssuer, "isOptional" | "lack" | "otherwise"> {
  if (!configuration.getBoolean(managerObtainsKey, false)) {
    const otherwise = `nodes need it: from where the NameNode cannot be reached, jobs can be submitted to a ResourceManager that obtains it itself (${managerObtainsKey}=true, in the configuration here, too)`;
    return { otherwise };
  }
  // NodeManagers fetch files with the ResourceManager's token, but begin to store logs only with the job's.
  const lack = `YARN stores no logs of this job, and its programs cannot open ${root} by Hadoop's own clients: no token of it is among them`;
  return { isOptional: true, lack };
}

/** Programs that report to the timeline server need its token; Hadoop's own clients obtain it for every job of such a cluster. */
async function timelineIssuer(
  configuration: Configuration,
  credentials: CredentialsProvider,
  renewer: string,
): Promise<readonly TokenIssuer[]> {
  const server = timelineServer(configuration);
  if (server === undefined) return [];
  const service = await tokenServiceOf(server.endpoint, configuration);
  const name = `The timeline server ${formatHostPort(server.endpoint)}`;
  const lack = `programs cannot write to the timeline: no token of ${name.replace("The", "the")} is among them`;
  const obtain = async () => ({ ...(await timelineDelegationToken(server, { credentials, renewer })), service });
  return [{ name, service, lack, obtain, ...(server.isOptional && { isOptional: true as const }) }];
}

/** New tokens from all of these, whatever tokens exist already. @throws UserError (`TOKEN_NOT_OBTAINED`) naming the service that issues none */
export async function freshTokens(
  cluster: IssuingCluster,
  used: readonly UsedFileSystem[],
): Promise<readonly NamedToken[]> {
  const obtained = await Promise.all((await tokenIssuers(cluster, used)).map((issuer) => tokensFrom(issuer)));
  return obtained.flat();
}

/** The same as a list, which is empty if an optional issuer issues none. */
async function tokensFrom(issuer: TokenIssuer): Promise<readonly NamedToken[]> {
  try {
    return [await tokenFrom(issuer)];
  } catch (error) {
    if (issuer.isOptional === true) return [];
    throw error;
  }
}

/**
 * Fetches a new token, filed under its service.
 * @param instead what else a person is told if there is none
 * @throws UserError (`TOKEN_NOT_OBTAINED`)
 */
export async function tokenFrom(
  { name, namedBy, service, obtain, otherwise }: TokenIssuer,
  instead: string = "",
): Promise<NamedToken> {
  try {
    return { alias: service, token: await obtain() };
  } catch (cause) {
    const by = namedBy === undefined ? "" : `, which ${namedBy} names,`;
    const mend = otherwise === undefined ? "" : `; ${otherwise}`;
    throw new UserError(`${name}${by} gives no delegation token: ${errorMessage(cause)}${instead}${mend}`, {
      code: "TOKEN_NOT_OBTAINED",
      exitCode: ExitCode.cluster,
      cause,
    });
  }
}

function hostOf(uri: string): string {
  return splitUri(uri)?.root.authority.replace(/:\d+$/, "") ?? "";
}
