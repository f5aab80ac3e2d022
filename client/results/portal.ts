import { spawn } from "node:child_process";
import { once } from "node:events";
import { isIP } from "node:net";
import path from "node:path";
import { UserError, usageError } from "../../src/errors.ts";
import { splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import { trustedCertificatesKey } from "../../src/hadoop/security/security-keys.ts";
import type { PortalProxies, PortalSettings } from "../../src/portal-settings.ts";
import { programPath } from "../../src/programs.ts";
import { configurationFolder, readClusterConfiguration } from "../cluster/hadoop-configuration.ts";
import { readSiteSettings } from "../cluster/site-settings.ts";
import { withTrustedCertificates } from "../cluster/trusted-certificates.ts";
import type { ClientContext } from "../context.ts";
import { noHistory } from "./job-history.ts";

/**
 * Runs the portal, a program of its own, until it ends; signals of a terminal reach it, too.
 * @returns its exit code; undefined where a signal ended it
 * @throws UserError (`NO_HISTORY`) where jobs keep none
 */
export async function runPortal(
  port: number,
  conf: readonly string[],
  { proxies, upkeep }: { readonly proxies: PortalProxies | undefined; readonly upkeep: "none" | "dry-run" | "whole" },
  context: ClientContext,
): Promise<number | undefined> {
  const settings = {
    ...portalSettings(port, conf, upkeep, context),
    ...(proxies === undefined ? {} : { proxies }),
  };
  const program = spawn(process.execPath, [programPath("portal")], {
    stdio: ["pipe", "inherit", "inherit"],
    env: { ...context.environment },
  });
  program.stdin.write(`${JSON.stringify(settings)}\n`);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => program.kill(signal));
  const [exitCode] = await once(program, "exit");
  return typeof exitCode === "number" ? exitCode : undefined;
}

/** @throws UserError (`NO_HISTORY`) where jobs keep none */
export function portalSettings(
  port: number,
  conf: readonly string[],
  upkeep: "none" | "dry-run" | "whole",
  context: ClientContext,
): PortalSettings {
  const { history, hadoop, gateway, caFile, login, portalState, upkeep: keeping } = readSiteSettings(conf, context);
  const { location } = history;
  if (location === undefined) throw noHistory("Name it: --conf tony.history.location=FOLDER");
  if (!location.startsWith("/") && splitUri(location) === undefined)
    throw new UserError(`tony.history.location is ${location}: the portal takes an absolute path or a URL`, {
      code: "NO_HISTORY",
    });
  const folder = configurationFolder(context.environment)?.path ?? "";
  const site = withTrustedCertificates(readClusterConfiguration(context, hadoop), folder, caFile);
  const trusted = site.get(trustedCertificatesKey);
  return {
    port,
    configurationFolder: folder,
    hadoop: trusted === undefined ? hadoop : { ...hadoop, [trustedCertificatesKey]: trusted },
    ...(gateway === undefined ? {} : { gateway }),
    ...(portalState === undefined ? {} : { stateFolder: path.resolve(portalState) }),
    ...(login === undefined ? {} : { login }),
    history,
    ...(upkeep === "none" ? {} : { upkeep: { ...keeping, isDryRun: upkeep === "dry-run" } }),
  };
}

interface ProxyOptions {
  readonly listen: string | undefined;
  readonly proxy: readonly string[] | undefined;
  readonly "user-header": string | undefined;
}

/** @throws UserError where only a part of it is said, or is no address or header */
export function portalProxies({ listen, proxy, "user-header": header }: ProxyOptions): PortalProxies | undefined {
  if (proxy === undefined && header === undefined && listen === undefined) return undefined;
  if (proxy === undefined || header === undefined)
    throw usageError("--proxy and --user-header go together: the proxies that log people in, and where they say whom");
  const wrong = [...proxy, ...(listen === undefined ? [] : [listen])].find((address) => isIP(address) === 0);
  if (wrong !== undefined) throw usageError(`${wrong} is no IP address: --proxy and --listen take such`);
  if (!/^[A-Za-z][A-Za-z0-9-]*$/.test(header)) throw usageError(`--user-header: ${header} is no header's name`);
  return { listen: listen ?? "127.0.0.1", addresses: proxy, header };
}
