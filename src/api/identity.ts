import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { TonyError } from "../errors.ts";
import type { Token } from "../hadoop/security/token.ts";
import type { Caller } from "./caller.ts";

/**
 * How the programs of one application authenticate each other. The client creates one key at submission, which only the ApplicationMaster's
 * attempts receive. Every other secret is derived from it, so each attempt knows the secrets of all containers, and a container only its
 * own.
 */
export interface ApplicationIdentity {
  readonly applicationId: string;
  readonly key: Uint8Array;
}

/** One container's share of the identity. */
export interface ExecutorIdentity {
  readonly applicationId: string;
  /** Named by its container's id. */
  readonly caller: Caller;
}

/** What a client needs to call the ApplicationMaster. */
export interface ClientAccess {
  readonly applicationId: string;
  readonly caller: Caller;
}

/** The name of a client that has the secret in the staging folder, which is for the owner. */
export const OWNER = "owner";

/** The names of these secrets in YARN's credentials (org.apache.hadoop.security.Credentials#addSecretKey). */
const applicationKeyName = "tony.application.key";
const executorSecretName = "tony.executor.secret";

type Secrets = ReadonlyMap<string, Uint8Array>;

const KEY_BYTES = 32;

/** A new identity for one application. */
export function makeIdentity(applicationId: string): ApplicationIdentity {
  return { applicationId, key: randomBytes(KEY_BYTES) };
}

/** The name in the AM's certificate; it is for display only, no such host exists. */
export function masterServerName(applicationId: string): string {
  return `${applicationId}.tony`;
}

export function executorServerName(applicationId: string): string {
  return `executor.${applicationId}.tony`;
}

/** For the credentials of the ApplicationMaster's container. */
export function masterSecrets({ key }: ApplicationIdentity): Map<string, Uint8Array> {
  return new Map([[applicationKeyName, key]]);
}

/** From the AM's credentials. Throws a TonyError with code `IDENTITY_INCOMPLETE` naming what is missing. */
export function readMasterIdentity(applicationId: string, secrets: Secrets): ApplicationIdentity {
  return { applicationId, key: requireSecret(secrets, applicationKeyName) };
}

/** The identity for one container's executor only. Ids are never reused, so neither are secrets. */
export function executorIdentity(identity: ApplicationIdentity, containerId: string): ExecutorIdentity {
  const secret = derive(identity, `executor ${containerId}`);
  return { applicationId: identity.applicationId, caller: { name: containerId, secret } };
}

/** For the credentials of an executor's container. */
export function executorSecrets({ caller }: ExecutorIdentity): Map<string, Uint8Array> {
  return new Map([[executorSecretName, caller.secret]]);
}

/** From the credentials of an executor's container. Throws a TonyError with code `IDENTITY_INCOMPLETE`. */
export function readExecutorIdentity(applicationId: string, containerId: string, secrets: Secrets): ExecutorIdentity {
  return { applicationId, caller: { name: containerId, secret: requireSecret(secrets, executorSecretName) } };
}

/** Whether a secret in YARN's credentials is one of these, which no task's program may have. */
export function isOwnSecret(name: string): boolean {
  return name === applicationKeyName || name === executorSecretName;
}

/** Without tony-ts's own secrets: the user's remain. */
export function withoutOwnSecrets(secrets: Secrets): Map<string, Uint8Array> {
  return new Map([...secrets].filter(([name]) => !isOwnSecret(name)));
}

/** A proof that only this attempt can give to its executors: with it they show other attempts that it exists. */
export function attemptProof(identity: ApplicationIdentity, attempt: number): Buffer {
  return derive(identity, `attempt ${attempt}`);
}

/** Whether the attempt itself gave this proof. */
export function isAttemptProof(identity: ApplicationIdentity, attempt: number, given: Uint8Array): boolean {
  const proof = attemptProof(identity, attempt);
  return proof.length === given.length && timingSafeEqual(proof, given);
}

/** The access of callers who may read the application's staging folder. */
export function clientAccess(identity: ApplicationIdentity): ClientAccess {
  return {
    applicationId: identity.applicationId,
    caller: { name: OWNER, secret: derive(identity, "client") },
  };
}

/** The key in the address that opens the whole page of a job, which the browser keeps to itself: only the job's owner can pass it on. */
export function pageKey({ caller }: ClientAccess): string {
  return createHmac("sha256", caller.secret).update("page").digest("base64url");
}

const tokenPrefix = "token:";

/** The access of users to whom the ResourceManager gave a token for the application, of kind YARN_CLIENT_TOKEN. */
export function tokenAccess(applicationId: string, token: Pick<Token, "identifier" | "password">): ClientAccess {
  const name = tokenPrefix + Buffer.from(token.identifier).toString("base64url");
  return { applicationId, caller: { name, secret: token.password } };
}

/**
 * The identifier of the token of a client with that name; undefined: it has none. A name that is spelled differently from ours is invalid,
 * because callers' limits are counted by name.
 */
export function tokenOf(callerName: string): Uint8Array | undefined {
  if (!callerName.startsWith(tokenPrefix)) return undefined;
  const spelled = callerName.slice(tokenPrefix.length);
  const identifier = Buffer.from(spelled, "base64url");
  return identifier.toString("base64url") === spelled ? identifier : undefined;
}

/** The file of the staging folder (mode 600) from which later clients read their access. */
export const clientAccessFile = "client.json";

/** The content of that file. */
export function formatClientAccess({ applicationId, caller }: ClientAccess): object {
  return { applicationId, clientSecret: Buffer.from(caller.secret).toString("base64url") };
}

/** Throws a TonyError with code `IDENTITY_INCOMPLETE` if the text is not a ClientAccess. */
export function parseClientAccess(text: string): ClientAccess {
  const secret = Buffer.from(fieldIn(text, "clientSecret"), "base64url");
  return { applicationId: fieldIn(text, "applicationId"), caller: { name: OWNER, secret } };
}

/** The key of the job's page, which that file also contains, on a secure cluster too. Throws as parseClientAccess. */
export function parsePageKey(text: string): string {
  return fieldIn(text, "pageKey");
}

function fieldIn(text: string, name: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new TonyError("The application's identity cannot be read", { code: "IDENTITY_INCOMPLETE", cause });
  }
  const value = Object.entries(parsed ?? {}).find(([key]) => key === name)?.[1];
  if (typeof value !== "string") throw incomplete(name);
  return value;
}

/** HMAC-SHA-256 of the purpose: no secret reveals another one or the key. */
function derive({ key }: ApplicationIdentity, purpose: string): Buffer {
  return createHmac("sha256", key).update(purpose).digest();
}

function requireSecret(secrets: Secrets, name: string): Uint8Array {
  const value = secrets.get(name);
  if (value === undefined || value.length === 0) throw incomplete(name);
  return value;
}

function incomplete(name: string): TonyError {
  return new TonyError(`The application's identity lacks ${name}`, { code: "IDENTITY_INCOMPLETE" });
}
