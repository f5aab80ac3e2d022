import { type Credentials, noCredentials } from "../../src/hadoop/security/credentials.ts";
import { isServiceOf } from "../../src/hadoop/security/token-service.ts";
import { tokensConf } from "../../src/hadoop/yarn/tokens-conf.ts";
import { type IssuingCluster, tokenFrom, tokenIssuers, type UsedFileSystem } from "../../src/tokens/token-issuers.ts";
import type { GivenTokens } from "../cluster/given-tokens.ts";

/** The part of a Cluster that is needed. */
export interface TokenCluster extends IssuingCluster {
  readonly isSecured: boolean;
  readonly given: GivenTokens | undefined;
}

/** The delegation tokens that a job's processes use, and YARN on their behalf. */
export interface JobTokens {
  readonly credentials: Credentials;
  /** Whether YARN cancels them when the application has ended. */
  readonly cancelTokensWhenComplete: boolean;
  /** What the ResourceManager needs to know to renew them; see tokensConf. */
  readonly tokensConf?: Uint8Array;
  /** A remark for people. */
  readonly remark?: string;
}

/**
 * The tokens of a job: those that this process was given, plus a new one for each file system that the job uses and for the
 * ResourceManager, where the given ones lack it. None on a cluster that does not authenticate its users. Given tokens may lack the
 * key server's.
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
        // Services that fetch tokens for others may lack the key server's, as Azkaban before 3.71 does: most jobs need none.
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
