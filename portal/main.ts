import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { roundingsOf } from "../src/advice/roundings.ts";
import { TonyError } from "../src/errors.ts";
import { groupsOf } from "../src/groups.ts";
import { wallClock } from "../src/hadoop/clock.ts";
import { processVariables } from "../src/hadoop/conf/configuration.ts";
import { loadConfiguration } from "../src/hadoop/conf/site-files.ts";
import { errorMessage } from "../src/hadoop/errors.ts";
import { FileSystems } from "../src/hadoop/hdfs/file-systems.ts";
import { HttpClient } from "../src/hadoop/http/client.ts";
import { interactiveRetry } from "../src/hadoop/rpc/retry.ts";
import { configuredCredentials } from "../src/hadoop/security/configured-credentials.ts";
import { GssAcceptor } from "../src/hadoop/security/kerberos/gss-acceptor.ts";
import { kerberosCredentials } from "../src/hadoop/security/kerberos/kerberos-credentials.ts";
import { localName } from "../src/hadoop/security/kerberos/local-name.ts";
import { KerberosLogin } from "../src/hadoop/security/kerberos/login.ts";
import { currentUser } from "../src/hadoop/security/user.ts";
import { findAggregatedLogs, readAggregatedLogs } from "../src/hadoop/yarn/aggregated-logs.ts";
import { resourceManagerEndpoints } from "../src/hadoop/yarn/endpoints.ts";
import { ResourceManagerClient } from "../src/hadoop/yarn/resource-manager.ts";
import { historyPlaces, JobHistoryFolder } from "../src/history/job-folder.ts";
import { requireSupportedNode } from "../src/job/node-release.ts";
import type { StoredLogs } from "../src/logs/log-store.ts";
import { type PortalDoorSettings, type PortalSettings, readPortalSettings } from "../src/portal-settings.ts";
import { Access } from "./access.ts";
import { DaySegments } from "./day-segments.ts";
import { JobIndex } from "./job-index.ts";
import { JobLogs } from "./job-logs.ts";
import { JobPages } from "./job-pages.ts";
import { Logins } from "./logins.ts";
import { RunningJobs } from "./running-job.ts";
import { type PortalDoor, PortalServer } from "./server.ts";
import { TroubleLog } from "./trouble-log.ts";
import { Upkeep } from "./upkeep.ts";

/** How often the history is scanned. */
const ROUND_MS = 30_000;
const CONNECT_MS = 5_000;

/** The portal. `tony-ts portal` starts it and sends its settings as one line on its standard input; the portal ends when that input is closed. */
async function main(): Promise<void> {
  requireSupportedNode(process.version);
  const lines = createInterface({ input: process.stdin }).once("close", leave);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, leave);
  const [line] = await once(lines, "line");
  const settings = readPortalSettings(JSON.parse(line), "");
  const cluster = openCluster(settings);
  const { fileSystem, intermediate, finished, resourceManager, admins, storeOf, folderOf, roundings } = cluster;
  const { nowMs } = wallClock;
  const report = (id: string) => resourceManager.report(id);
  const { stateFolder } = settings;
  const segments =
    stateFolder === undefined ? {} : { segments: new DaySegments(stateFolder, fileSystem.uri + finished) };
  const index = new JobIndex({ fileSystem, intermediate, finished, report, roundings, nowMs, ...segments });
  const say = (line: string) => process.stdout.write(`${new Date(nowMs()).toISOString()} ${line}\n`);
  const upkeep =
    settings.upkeep && new Upkeep({ fileSystem, index, intermediate, folderOf, settings: settings.upkeep, nowMs, say });
  if (upkeep !== undefined && settings.upkeep?.isDryRun === true) return await rehearse(index, upkeep);
  const access = new Access({ admins, groupsOf, nowMs });
  const jobs = new JobPages({
    fileSystem,
    access,
    index,
    logs: new JobLogs(storeOf),
    running: new RunningJobs(cluster.http, fileSystem),
    report,
    roundings,
    prices: settings.prices,
    nowMs,
  });
  const pages = { listPage: page("portal.html"), jobPage: page("page.html"), comparePage: page("compare.html") };
  const { port, proxies } = settings;
  const options = {
    ...{ index, jobs, access, ...pages, nowMs },
    ...(proxies === undefined ? {} : { proxies }),
    ...(settings.door === undefined ? {} : { door: await openDoor(settings.door, cluster.localNameOf) }),
    ...(upkeep === undefined ? {} : { upkeep }),
  };
  const restored = index.restore();
  const address = await new PortalServer(options).listen(port);
  process.stdout.write(`The portal is at ${address}\n`);
  await restored;
  const troubles = new TroubleLog(say);
  for (;;) {
    await index.refresh();
    troubles.tell(index.scan);
    await upkeep?.round();
    await index.keepGone();
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  }
}

/** @throws TonyError (`HISTORY_UNREADABLE`) */
async function rehearse(index: JobIndex, upkeep: Upkeep): Promise<never> {
  await index.refresh();
  const { trouble } = index.scan;
  if (trouble !== undefined) throw new TonyError(trouble, { code: "HISTORY_UNREADABLE" });
  await upkeep.rehearse();
  return leave();
}

function leave(): never {
  process.exit(0);
}

/** @throws Error where one of its files cannot be used */
async function openDoor(
  { listen, certificate, key, clientAuthority, keytab }: PortalDoorSettings,
  localNameOf: () => Promise<(principal: string) => string>,
): Promise<PortalDoor> {
  const acceptor = keytab === undefined ? undefined : await GssAcceptor.open(keytab);
  const logins = new Logins({
    ...(acceptor === undefined ? {} : { accept: (token) => acceptor.accept(token) }),
    localNameOf: acceptor === undefined ? String : await localNameOf(),
    takesCertificates: clientAuthority !== undefined,
    nowMs: wallClock.nowMs,
  });
  return {
    ...{ listen, logins, certificate: await readFile(certificate), key: await readFile(key) },
    ...(clientAuthority === undefined ? {} : { clientAuthority: await readFile(clientAuthority) }),
  };
}

function openCluster({ configurationFolder, hadoop, gateway, login, history }: PortalSettings) {
  const configuration = loadConfiguration(configurationFolder, processVariables()).withValues(hadoop);
  const kerberos = new KerberosLogin(login);
  const credentials = configuredCredentials(configuration, currentUser(process.env), (options) =>
    kerberosCredentials({ ...options, login: kerberos }),
  );
  const fileSystems = new FileSystems({ configuration, credentials, gateway });
  const places = historyPlaces(fileSystems, history);
  if (places === undefined) throw new TonyError("tony.history.location is not set", { code: "NO_HISTORY" });
  const resourceManager = new ResourceManagerClient({
    endpoints: resourceManagerEndpoints(configuration, "client"),
    credentials,
    retry: interactiveRetry,
  });
  const admins = configuration.getBoolean("yarn.acl.enable", false) ? (configuration.get("yarn.admin.acl") ?? "") : "";
  const storeOf = (user: string, applicationId: string): StoredLogs => {
    return {
      async *logs(wanted) {
        for (const file of await findAggregatedLogs(fileSystems, configuration, user, applicationId))
          yield* readAggregatedLogs(file, wanted);
      },
    };
  };
  const folderOf = (applicationId: string) => {
    const folder = JobHistoryFolder.of(fileSystems, history, applicationId);
    if (folder === undefined) throw new TonyError("tony.history.location is not set", { code: "NO_HISTORY" });
    return folder;
  };
  const localNameOf = async () => {
    const realm = await kerberos.defaultRealm();
    return (principal: string) => localName(configuration, principal, realm);
  };
  const roundings = roundingsOf(configuration);
  const http = new HttpClient({ credentials, connectTimeoutMs: CONNECT_MS });
  return { ...places, http, resourceManager, admins, storeOf, folderOf, localNameOf, roundings };
}

/** Read from the folder of this program. */
function page(name: string): Buffer {
  return readFileSync(path.join(__dirname, name));
}

main().catch((error: unknown) => {
  process.stderr.write(`tony-ts: the portal cannot start: ${errorMessage(error)}\n`);
  process.exit(1);
});
