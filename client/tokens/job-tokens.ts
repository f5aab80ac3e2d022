import { type Credentials, noCredentials } from "../../src/hadoop/security/credentials.ts";
import { isServiceOf } from "../../src/hadoop/security/token-service.ts";
import { tokensConf } from "../../src/hadoop/yarn/tokens-conf.ts";
import { type IssuingCluster, tokenFrom, tokenIssuers, type UsedFileSystem } from "../../src/tokens/token-issuers.ts";
import type { GivenTokens } from "../cluster/given-tokens.ts";

/** What is needed of a Cluster. */
export interface TokenCluster extends IssuingCluster {
  readonly isSecured: boolean;
  readonly given: GivenTokens | undefined;
}

/** The delegation tokens that a job's processes, and YARN for them, use. */
export interface JobTokens {
  readonly credentials: Credentials;
  /** Whether YARN cancels them when the application has ended. */
  readonly cancelTokensWhenComplete: boolean;
  /** What the ResourceManager needs to know to renew them; see tokensConf. */
  readonly tokensConf?: Uint8Array;
  /** What a person is to know of them. */
  readonly remark?: string;
}

/**
 * The tokens of a job: those that this process was given, and for each file system that the job uses, and the ResourceManager, a new
 * one where there is none among them. None on a cluster that believes names. A process that was given some may lack the key server's.
 * @throws UserError (`TOKEN_NOT_OBTAINED`) naming the service that gives none
 */
export async function jobTokens(cluster: TokenCluster, used: readonly UsedFileSystem[]): Promise<JobTokens> {
  if (!cluster.isSecured) return { credentials: noCredentials, cancelTokensWhenComplete: true };
  const { given, configuration } = cluster;
  const { tokens, secrets } = given?.credentials ?? noCredentials;
  const issuers = await tokenIssuers(cluster, used);
  const isHeld = await Promise.all(issuers.map(({ service }) => anyIsFor(service, tokens)));
  const missing = issuers.filter((_issuer, index) => isHeld[index] !== true);
  const instead = given === undefined ? "" : `; ${given.file} has none for it`;
  const lacks: string[] = [];
  const obtained = await Promise.all(
    missing.map(async (issuer) => {
      try {
        return [await tokenFrom(issuer, instead)];
      } catch (error) {
        // Services that fetch tokens for others may have none of the key server, as Azkaban before 3.71: most jobs need none.
        const isNeeded = given === undefined && issuer.isOptional !== true;
        if (isNeeded || issuer.lack === undefined) throw error;
        lacks.push(issuer.lack);
        return [];
      }
    }),
  );
  const conf = tokensConf(configuration);
  return {
    credentials: { tokens: [...tokens, ...obtained.flat()], secrets },
    cancelTokensWhenComplete: given === undefined,
    ...(conf !== undefined && { tokensConf: conf }),
    ...remarkOn([...(given === undefined ? [] : [givenWords(given)]), ...lacks]),
  };
}

function givenWords({ file }: GivenTokens): string {
  return `those of ${file}, which stay valid when the job has ended: whoever obtained them may need them for other jobs`;
}

function remarkOn(words: readonly string[]): Pick<JobTokens, "remark"> {
  return words.length === 0 ? {} : { remark: `  tokens  ${words.join("; ")}` };
}

async function anyIsFor(service: string, tokens: Credentials["tokens"]): Promise<boolean> {
  for (const { token } of tokens) if (await isServiceOf(token.service, service)) return true;
  return false;
}
