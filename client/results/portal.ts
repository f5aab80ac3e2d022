import { spawn } from "node:child_process";
import { once } from "node:events";
import { isIP } from "node:net";
import path from "node:path";
import { UserError, usageError } from "../../src/errors.ts";
import { splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import { trustedCertificatesKey } from "../../src/hadoop/security/security-keys.ts";
import { formatProblem, hasErrors, invalidJob } from "../../src/job/problem.ts";
import type { PortalDoorSettings, PortalProxies, PortalSettings } from "../../src/portal-settings.ts";
import { programPath } from "../../src/programs.ts";
import { configurationFolder, readClusterConfiguration } from "../cluster/hadoop-configuration.ts";
import { type PortalDoorFiles, readSiteSettings } from "../cluster/site-settings.ts";
import { withTrustedCertificates } from "../cluster/trusted-certificates.ts";
import type { ClientContext } from "../context.ts";
import { noHistory } from "./job-history.ts";

export interface PortalChoice {
  readonly proxies?: PortalProxies | undefined;
  /** The address to listen on, if not this machine's own, where people log in. */
  readonly listen?: string | undefined;
  readonly upkeep: "none" | "dry-run" | "whole";
}

/**
 * Runs the portal, a separate program, until it ends; signals of a terminal reach it, too.
 * @returns its exit code; undefined where a signal ended it
 * @throws UserError (`NO_HISTORY`) where jobs keep no history
 */
export async function runPortal(
  port: number,
  conf: readonly string[],
  choice: PortalChoice,
  context: ClientContext,
  bundle: string = programPath("portal"),
): Promise<number | undefined> {
  const settings = portalSettings(port, conf, choice, context);
  const program = spawn(process.execPath, [bundle], {
    stdio: ["pipe", "inherit", "inherit"],
    env: { ...context.environment },
  });
  program.stdin.write(`${JSON.stringify(settings)}\n`);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => program.kill(signal));
  const [exitCode] = await once(program, "exit");
  return typeof exitCode === "number" ? exitCode : undefined;
}

/** @throws UserError (`NO_HISTORY`) where jobs keep no history; (`JOB_INVALID`) where a setting is wrong that decides what is removed */
export function portalSettings(
  port: number,
  conf: readonly string[],
  { proxies, listen, upkeep }: PortalChoice,
  context: ClientContext,
): PortalSettings {
  const site = readSiteSettings(conf, context);
  const { history, hadoop, gateway, caFile, login, portalState, upkeep: keeping, problems } = site;
  if (hasErrors(problems)) throw invalidJob(problems);
  for (const problem of problems) context.output.problem(formatProblem(problem));
  if (listen !== undefined && isIP(listen) === 0) throw usageError(`--listen takes an IP address, not ${listen}`);
  const door = portalDoor(site.portalDoor, listen);
  if (door !== undefined && proxies !== undefined)
    throw usageError("People log in at the portal (tony.portal.*) or at the proxies of --proxy, not at both");
  if (door === undefined && proxies === undefined && listen !== undefined)
    throw usageError(`--listen is for people who log in: ${WAYS}, or by --proxy`);
  const { location } = history;
  if (location === undefined) throw noHistory("Name it: --conf tony.history.location=FOLDER");
  if (!location.startsWith("/") && splitUri(location) === undefined)
    throw new UserError(`tony.history.location is ${location}: the portal takes an absolute path or a URL`, {
      code: "NO_HISTORY",
    });
  const folder = configurationFolder(context.environment)?.path ?? "";
  const trusting = withTrustedCertificates(readClusterConfiguration(context, hadoop), folder, caFile);
  const trusted = trusting.get(trustedCertificatesKey);
  return {
    port,
    configurationFolder: folder,
    hadoop: trusted === undefined ? hadoop : { ...hadoop, [trustedCertificatesKey]: trusted },
    ...(gateway === undefined ? {} : { gateway }),
    ...(portalState === undefined ? {} : { stateFolder: path.resolve(portalState) }),
    ...(login === undefined ? {} : { login }),
    ...(door === undefined ? {} : { door }),
    ...(proxies === undefined ? {} : { proxies }),
    history,
    prices: site.prices,
    ...(upkeep === "none" ? {} : { upkeep: { ...keeping, isDryRun: upkeep === "dry-run" } }),
  };
}

const WAYS = "by tony.portal.spnego-keytab or tony.portal.client-ca";

/**
 * How people log in at the portal itself; undefined: they do not.
 * @param listen default: this machine's own address
 * @throws UserError where a part of it is missing
 */
export function portalDoor(files: PortalDoorFiles, listen = "127.0.0.1"): PortalDoorSettings | undefined {
  const { certificate, key, clientAuthority, keytab } = files;
  if (Object.values(files).every((file) => file === undefined)) return undefined;
  if (certificate === undefined || key === undefined)
    throw usageError(
      "Logging in at the portal needs TLS: set both tony.portal.tls-certificate and tony.portal.tls-key",
    );
  if (clientAuthority === undefined && keytab === undefined)
    throw usageError(`Nothing says how people log in: ${WAYS}`);
  return {
    ...{ listen, certificate: path.resolve(certificate), key: path.resolve(key) },
    ...(clientAuthority === undefined ? {} : { clientAuthority: path.resolve(clientAuthority) }),
    ...(keytab === undefined ? {} : { keytab: path.resolve(keytab) }),
  };
}

interface ProxyOptions {
  readonly listen: string | undefined;
  readonly proxy: readonly string[] | undefined;
  readonly "user-header": string | undefined;
}

/** @throws UserError where only some of the options are given, or one is not an address or header */
export function portalProxies({ listen, proxy, "user-header": header }: ProxyOptions): PortalProxies | undefined {
  if (proxy === undefined && header === undefined) return undefined;
  if (proxy === undefined || header === undefined)
    throw usageError(
      "--proxy and --user-header go together: the proxies that log people in, and the header in which they name the user",
    );
  const wrong = proxy.find((address) => isIP(address) === 0);
  if (wrong !== undefined) throw usageError(`--proxy takes an IP address, not ${wrong}`);
  if (!/^[A-Za-z][A-Za-z0-9-]*$/.test(header)) throw usageError(`--user-header: ${header} is not a header's name`);
  return { listen: listen ?? "127.0.0.1", addresses: proxy, header };
}
