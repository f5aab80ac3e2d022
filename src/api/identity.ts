import { X509Certificate } from "node:crypto";
import { TonyError } from "../errors.ts";

/** A key and its self-signed certificate, both PEM. */
export interface KeyAndCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

/**
 * How the programs of one application authenticate each other; made by the client at submission, valid for that application only.
 * Every server shows a certificate that its callers know beforehand (pinned), every call carries the secret of its kind of caller.
 */
export interface ApplicationIdentity {
  readonly applicationId: string;
  /** The ApplicationMaster's. Executors have the certificate without its key, so that none of them can impersonate the AM. */
  readonly master: KeyAndCertificate;
  /** The executors', for their rejoin ports. */
  readonly executor: KeyAndCertificate;
  readonly executorSecret: string;
  readonly clientSecret: string;
}

/** The executor's part of it. */
export interface ExecutorIdentity {
  readonly applicationId: string;
  readonly masterCertificate: string;
  readonly executor: KeyAndCertificate;
  readonly executorSecret: string;
}

/** What a client needs to call the ApplicationMaster; kept in the staging folder in a file only its owner reads. */
export interface ClientAccess {
  readonly applicationId: string;
  readonly masterCertificate: string;
  readonly clientSecret: string;
}

/** The names under which the parts travel as secrets in YARN's credentials (org.apache.hadoop.security.Credentials#addSecretKey). */
const secretName = {
  masterCertificate: "tony.master.certificate",
  masterKey: "tony.master.key",
  executorCertificate: "tony.executor.certificate",
  executorKey: "tony.executor.key",
  executorSecret: "tony.executor.secret",
  clientSecret: "tony.client.secret",
} as const;

type Secrets = ReadonlyMap<string, Uint8Array>;

/** The name in the AM's certificate; it is only compared, there is no such host. */
export function masterServerName(applicationId: string): string {
  return `${applicationId}.tony`;
}

export function executorServerName(applicationId: string): string {
  return `executor.${applicationId}.tony`;
}

/** For the credentials of the ApplicationMaster's container. */
export function masterSecrets(identity: ApplicationIdentity): Map<string, Uint8Array> {
  return new Map([
    ...executorSecrets(executorIdentity(identity)),
    [secretName.masterKey, Buffer.from(identity.master.privateKey)],
    [secretName.clientSecret, Buffer.from(identity.clientSecret)],
  ]);
}

/** For the credentials of an executor's container. */
export function executorSecrets(identity: ExecutorIdentity): Map<string, Uint8Array> {
  return new Map([
    [secretName.masterCertificate, Buffer.from(identity.masterCertificate)],
    [secretName.executorCertificate, Buffer.from(identity.executor.certificate)],
    [secretName.executorKey, Buffer.from(identity.executor.privateKey)],
    [secretName.executorSecret, Buffer.from(identity.executorSecret)],
  ]);
}

/** From the AM's credentials. Throws a TonyError with code `IDENTITY_INCOMPLETE` naming what is missing. */
export function readMasterIdentity(applicationId: string, secrets: Secrets): ApplicationIdentity {
  return {
    applicationId,
    master: {
      certificate: requireSecret(secrets, secretName.masterCertificate),
      privateKey: requireSecret(secrets, secretName.masterKey),
    },
    executor: readExecutorIdentity(applicationId, secrets).executor,
    executorSecret: requireSecret(secrets, secretName.executorSecret),
    clientSecret: requireSecret(secrets, secretName.clientSecret),
  };
}

/** From an executor's credentials. Throws a TonyError with code `IDENTITY_INCOMPLETE` naming what is missing. */
export function readExecutorIdentity(applicationId: string, secrets: Secrets): ExecutorIdentity {
  return {
    applicationId,
    masterCertificate: requireSecret(secrets, secretName.masterCertificate),
    executor: {
      certificate: requireSecret(secrets, secretName.executorCertificate),
      privateKey: requireSecret(secrets, secretName.executorKey),
    },
    executorSecret: requireSecret(secrets, secretName.executorSecret),
  };
}

export function executorIdentity(identity: ApplicationIdentity): ExecutorIdentity {
  const { applicationId, master, executor, executorSecret } = identity;
  return { applicationId, masterCertificate: master.certificate, executor, executorSecret };
}

export function clientAccess(identity: ApplicationIdentity): ClientAccess {
  const { applicationId, master, clientSecret } = identity;
  return { applicationId, masterCertificate: master.certificate, clientSecret };
}

/** The file of the staging folder (mode 600) from which later clients read their access. */
export const clientAccessFile = "client.json";

/** Throws a TonyError with code `IDENTITY_INCOMPLETE` when the text is no ClientAccess. */
export function parseClientAccess(text: string): ClientAccess {
  const parsed: unknown = JSON.parse(text);
  const field = (name: string) => {
    const value = Object.entries(parsed ?? {}).find(([key]) => key === name)?.[1];
    if (typeof value !== "string") throw incomplete(name);
    return value;
  };
  const access = {
    applicationId: field("applicationId"),
    masterCertificate: field("masterCertificate"),
    clientSecret: field("clientSecret"),
  };
  new X509Certificate(access.masterCertificate);
  return access;
}

function requireSecret(secrets: Secrets, name: string): string {
  const value = secrets.get(name);
  if (value === undefined) throw incomplete(name);
  return Buffer.from(value).toString("utf8");
}

function incomplete(name: string): TonyError {
  return new TonyError(`The application's identity lacks ${name}`, { code: "IDENTITY_INCOMPLETE" });
}
