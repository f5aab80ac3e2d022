import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { TonyError } from "../errors.ts";
import type { Token } from "../hadoop/security/token.ts";
import type { Caller } from "./caller.ts";

/**
 * How the programs of one application authenticate each other: one key, made by the client at submission, which only the ApplicationMaster's
 * attempts are given. Every other secret is derived from it, so that all attempts know those of all containers, and nobody else's.
 */
export interface ApplicationIdentity {
  readonly applicationId: string;
  readonly key: Uint8Array;
}

/** One container's part of it. */
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

/** The name of a client that holds what the staging folder has for its owner. */
export const OWNER = "owner";

/** The names under which the parts travel as secrets in YARN's credentials (org.apache.hadoop.security.Credentials#addSecretKey). */
const applicationKeyName = "tony.application.key";
const executorSecretName = "tony.executor.secret";

type Secrets = ReadonlyMap<string, Uint8Array>;

const KEY_BYTES = 32;

/** A new identity for one application. */
export function makeIdentity(applicationId: string): ApplicationIdentity {
  return { applicationId, key: randomBytes(KEY_BYTES) };
}

/** The name in the AM's certificate; it is only shown, there is no such host. */
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

/** What one container's executor is given, and no other. An id is never used again: so is no secret. */
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

/** Whether a secret of YARN's credentials is one of these, which no task's program may have. */
export function isOwnSecret(name: string): boolean {
  return name === applicationKeyName || name === executorSecretName;
}

/** The secrets that are the user's. */
export function withoutOwnSecrets(secrets: Secrets): Map<string, Uint8Array> {
  return new Map([...secrets].filter(([name]) => !isOwnSecret(name)));
}

/** What an attempt gives its executors, and nobody else can: they show by it to other attempts that there is this one. */
export function attemptProof(identity: ApplicationIdentity, attempt: number): Buffer {
  return derive(identity, `attempt ${attempt}`);
}

/** Whether that was given by the attempt. */
export function isAttemptProof(identity: ApplicationIdentity, attempt: number, given: Uint8Array): boolean {
  const proof = attemptProof(identity, attempt);
  return proof.length === given.length && timingSafeEqual(proof, given);
}

/** The access of those who may read the application's staging folder. */
export function clientAccess(identity: ApplicationIdentity): ClientAccess {
  return {
    applicationId: identity.applicationId,
    caller: { name: OWNER, secret: derive(identity, "client") },
  };
}

/** What opens the whole page of a job to who has it, in an address that his browser keeps to itself: its owner can tell it, nobody else. */
export function pageKey({ caller }: ClientAccess): string {
  return createHmac("sha256", caller.secret).update("page").digest("base64url");
}

const tokenPrefix = "token:";

/** The access of those to whom the ResourceManager gave a token for the application, of kind YARN_CLIENT_TOKEN. */
export function tokenAccess(applicationId: string, token: Pick<Token, "identifier" | "password">): ClientAccess {
  const name = tokenPrefix + Buffer.from(token.identifier).toString("base64url");
  return { applicationId, caller: { name, secret: token.password } };
}

/**
 * The identifier of the token that a client of that name has; undefined: it has none. A name that is spelled in another way than ours is
 * nobody's: what callers may is counted by their names.
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

/** Throws a TonyError with code `IDENTITY_INCOMPLETE` when the text is no ClientAccess. */
export function parseClientAccess(text: string): ClientAccess {
  const secret = Buffer.from(fieldIn(text, "clientSecret"), "base64url");
  return { applicationId: fieldIn(text, "applicationId"), caller: { name: OWNER, secret } };
}

/** The key of the job's page, which that file has beside, on a secured cluster too. Throws as parseClientAccess. */
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

/** HMAC-SHA-256 of what it is for: no secret tells another, or the key. */
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
