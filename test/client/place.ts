import type { Applications } from "../../client/applications/applications.ts";
import { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import { aReport } from "./application-report.ts";

/** Where there is no cluster's configuration. */
export const onThisMachine = new FileSystems({
  configuration: new Configuration(),
  credentials: simpleCredentials({ name: "ada" }),
});

/** A place that knows nothing, but for what a test gives it. */
export function aPlace(changes: Partial<Applications> = {}): Applications {
  return {
    user: "ada",
    askBriefly: () => undefined,
    report: async () => aReport(),
    reports: async () => [],
    explained: async (status) => status,
    explainedSoon: (status) => status,
    waitingReason: async () => ({ code: "manager-says", words: "queue ml has no room" }),
    contact: async () => undefined,
    noContactReason: () => "HDFS does not answer",
    kill: async () => undefined,
    finalStatus: async () => undefined,
    noStatusReason: () => undefined,
    checkpointDir: async () => undefined,
    clean: async () => "",
    sweep: async () => undefined,
    fileSystems: async () => onThisMachine,
    logStore: () => ({ pending: undefined, isAtHand: false, async *logs() {} }),
    close: () => undefined,
    ...changes,
  };
}
