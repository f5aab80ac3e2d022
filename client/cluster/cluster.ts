import { ExitCode, UserError } from "../../src/errors.ts";
import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { formatHostPort, type HostPort } from "../../src/hadoop/conf/values.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import type { RetryPolicy } from "../../src/hadoop/rpc/retry.ts";
import type { CredentialsProvider } from "../../src/hadoop/security/credentials-provider.ts";
import type { KeytabLogin } from "../../src/hadoop/security/kerberos/gss-api.ts";
import type { KerberosLogin } from "../../src/hadoop/security/kerberos/login.ts";
import { authenticationKey, trustedCertificatesKey } from "../../src/hadoop/security/security-keys.ts";
import { resourceManagerEndpoints, resourceManagerWebAddresses } from "../../src/hadoop/yarn/endpoints.ts";
import { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import type { JobText } from "../../src/job/build/load-job.ts";
import { readSetting } from "../../src/job/build/read-settings.ts";
import type { ClientContext } from "../context.ts";
import type { GivenTokens } from "./given-tokens.ts";
import {
  type ConfigurationFolder,
  configurationFolder,
  describeFolder,
  readClusterConfiguration,
  schedulerGuess,
} from "./hadoop-configuration.ts";
import { type Identity, identityOn, notLoggedIn } from "./identity.ts";
import { keytabLogin } from "./keytab-login.ts";
import { briefPatience, configuredPatience, showTrouble } from "./patience.ts";
import { tokenRefusal } from "./token-refusal.ts";
import { throughActive } from "./tracking-url.ts";
import { withTrustedCertificates } from "./trusted-certificates.ts";

/** mapred-default.xml's `mapreduce.client.submit.file.replication`. */
const hadoopsReplicas = 10;
const connections = { connectTimeoutMs: 5_000, callTimeoutMs: 3_000 } as const;

export interface ClusterOptions {
  /** A job's settings outside `tony.`, laid over the cluster's configuration. */
  readonly hadoop?: Readonly<Record<string, string>>;
  /** `tony.hdfs.endpoint` */
  readonly gateway?: string | undefined;
  /** `tony.security.ca-file` */
  readonly caFile?: string | undefined;
  /** Who logs in, where the tickets of kinit are not to be used. */
  readonly login?: KeytabLogin | undefined;
}

/** One cluster and one of its users; connections are opened by the first call. */
export class Cluster {
  readonly configuration: Configuration;
  /** The name by which the cluster knows the user. */
  readonly user: string;
  readonly credentials: CredentialsProvider;
  readonly fileSystems: FileSystems;
  readonly resourceManager: ResourceManagerClient;
  /** Whether the cluster requires authentication. */
  readonly isSecured: boolean;
  /** The user that our own login proves, whatever tokens this process was given: given tokens cannot obtain further ones. */
  readonly own: CredentialsProvider;
  /** The delegation tokens that this process was given; undefined where there are none, or the cluster requires no authentication. */
  readonly given: GivenTokens | undefined;
  /** How this process logs in when it uses Kerberos and no given tokens. */
  readonly login: KerberosLogin | undefined;
  /** Where the configuration is, for messages. */
  readonly folder: ConfigurationFolder;
  /** Tells a person what a command waits for. */
  readonly tell: (text: string) => void;
  readonly #endpoints: readonly HostPort[];
  /** HttpFS or Knox, where one serves the default file system. */
  readonly gateway: string | undefined;
  #patience: RetryPolicy;

  /** @throws UserError where there is no cluster configuration, or nobody is logged in (exit code 3) */
  static async open(context: ClientContext, options: ClusterOptions = {}): Promise<Cluster> {
    const site = readClusterConfiguration(context, options.hadoop);
    const folder = configurationFolder(context.environment)?.path ?? "";
    const configuration = withTrustedCertificates(site, folder, options.caFile);
    const identity = await identityOn(configuration, context.environment, options.login);
    return new Cluster(context, options, configuration, identity);
  }

  private constructor(
    context: ClientContext,
    options: ClusterOptions,
    configuration: Configuration,
    { user, isSecured, credentials, own, given, login }: Identity,
  ) {
    this.configuration = configuration;
    this.user = user;
    this.isSecured = isSecured;
    this.credentials = credentials;
    this.own = own;
    this.given = given;
    this.login = login;
    this.folder = configurationFolder(context.environment) ?? { path: "", namedBy: [] };
    this.gateway = options.gateway;
    this.tell = (text) => context.output.problem(text);
    this.fileSystems = new FileSystems({
      configuration: this.configuration,
      credentials,
      gateway: options.gateway,
    });
    const endpoints = resourceManagerEndpoints(this.configuration, "client");
    this.#endpoints = endpoints;
    this.#patience = configuredPatience(this.configuration);
    const where = endpoints.map(formatHostPort).join(", ");
    this.resourceManager = new ResourceManagerClient({
      endpoints,
      credentials,
      ...connections,
      retry: () => this.#patience,
      onTrouble: (trouble) => showTrouble(context.output, where, trouble, this.#patience),
    });
  }

  /** How long a ResourceManager that does not answer is asked again. */
  get patience(): RetryPolicy {
    return this.#patience;
  }

  /** The replication of a file that a job's nodes fetch all at once, as Hadoop's own submissions set it. */
  get sharedReplicas(): number {
    return this.configuration.getInteger("mapreduce.client.submit.file.replication", hadoopsReplicas);
  }

  /** An address of a report, by way of the ResourceManager that gave the report. */
  trackingUrl(url: string): string {
    const webAddresses = resourceManagerWebAddresses(this.configuration);
    return throughActive(url, webAddresses, webAddresses[this.#endpoints.indexOf(this.resourceManager.endpoint)]);
  }

  /**
   * From now on a ResourceManager that does not answer is given up at once: for callers that ask again themselves, or only want to know
   * whether it answers.
   */
  askBriefly(): void {
    this.#patience = briefPatience;
  }

  close(): void {
    this.resourceManager.close();
    this.fileSystems.close();
  }

  /** Runs something against the cluster; turns an error that says that a part of it is down or refuses us into a message with a remedy. */
  async use<T>(work: (cluster: Cluster) => Promise<T>): Promise<T> {
    try {
      return await work(this);
    } catch (error) {
      throw this.explain(error);
    }
  }

  /** The same error, or a UserError (exit code 3) where the cluster cannot be reached. */
  explain(error: unknown): unknown {
    const refusal = this.given === undefined ? undefined : tokenRefusal(error, this.given);
    if (refusal !== undefined) return refusal;
    switch (errorCode(error)) {
      case "RPC_CONNECT_FAILED":
      case "RPC_CONNECTION_LOST":
      case "RPC_TIMEOUT":
      case "RPC_PROTOCOL":
        return this.#unreachable(
          "The ResourceManager",
          this.configuration.describe("yarn.resourcemanager.address"),
          error,
          "Is it running, and is this the right cluster? ",
        );
      case "UNREACHABLE":
      case "TIMEOUT":
        return this.gateway === undefined
          ? this.#unreachable("The NameNode (WebHDFS)", this.#nameNodeAddressSource(), error)
          : this.#unreachable("HttpFS or Knox", "tony.hdfs.endpoint", error);
      case "UNTRUSTED":
      case "HTTP_UNTRUSTED":
        return misplaced(error, this.#trustSource());
      case "AUTHENTICATION_FAILED":
        return misplaced(error, this.isSecured ? "tony-ts doctor says more" : this.#authenticationSource());
      case "KERBEROS_NEEDED":
      case "SERVER_NOT_SECURE":
        return misplaced(error, this.#authenticationSource());
      case "NO_WEBHDFS":
        return misplaced(error, "Turn WebHDFS on, or name an HttpFS or Knox: tony.hdfs.endpoint=http://gateway:14000");
      case "FILE_SYSTEM_UNSUPPORTED":
        return misplaced(
          error,
          "The files of jobs may lie elsewhere: tony.staging-dir=hdfs://namenode:8020/user/you/.tony-ts, in the job or in tony-site.xml",
        );
      default:
        return notLoggedIn(error);
    }
  }

  /** The certificates that are trusted, and how to add others. */
  #trustSource(): string {
    const pem = "tony.security.ca-file=FILE names the PEM file of the one that did, in the job or in tony-site.xml";
    return this.configuration.has(trustedCertificatesKey)
      ? `None of the trusted authorities has signed it (tony.security.ca-file, else ssl-client.xml of ${this.folder.path}); ${pem}`
      : `No trust store is named in ssl-client.xml of ${this.folder.path}; ${pem}`;
  }

  /** Which authentication is configured, and where. */
  #authenticationSource(): string {
    const place = this.configuration.describe(authenticationKey);
    return `${place} is ${this.isSecured ? "kerberos" : "simple"} here; ${describeFolder(this.folder)}`;
  }

  #nameNodeAddressSource(): string {
    const key = "dfs.namenode.http-address";
    // With a nameservice the keys end in its name.
    const isSet = [...this.configuration.entries()].some(([name]) => name.startsWith(key));
    const notSet = `${key}, which is not set: the default ports of Hadoop 3 and of 2 were tried`;
    return isSet ? this.configuration.describe(key) : notSet;
  }

  /** @param question what the person should check first, where the cause does not say so */
  #unreachable(server: string, addressSource: string, cause: unknown, question = ""): UserError {
    const mend = `${question}${describeFolder(this.folder)}; the address comes from ${addressSource}`;
    return new UserError(`${server} does not answer: ${errorMessage(cause)}\n  ${mend}\n  tony-ts doctor says more`, {
      code: String(errorCode(cause)),
      exitCode: ExitCode.cluster,
      retryable: true,
      cause,
    });
  }
}

/** A default file system that jobs cannot use, and what can be set instead. */
const misplaced = (cause: unknown, mend: string) =>
  new UserError(`${errorMessage(cause)}\n  ${mend}`, {
    code: String(errorCode(cause)),
    exitCode: ExitCode.cluster,
    cause,
  });

/** The cluster that a job goes to; the person is told which one when nothing named it. @throws UserError when there is none */
export async function clusterOf({ hadoop, settings }: JobText, context: ClientContext): Promise<Cluster> {
  const gateway = readSetting(settings, "tony.hdfs.endpoint");
  const caFile = readSetting(settings, "tony.security.ca-file");
  const cluster = await Cluster.open(context, { hadoop, gateway, caFile, login: keytabLogin(settings) });
  if (cluster.folder.namedBy.length === 0) context.output.problem(describeFolder(cluster.folder));
  const guess = schedulerGuess(cluster.configuration);
  if (guess !== undefined) context.output.problem(guess);
  return cluster;
}
