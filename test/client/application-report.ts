import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";

/** An application that waits in queue ml, as the ResourceManager reports it. */
export function aReport(changes: Partial<ApplicationReport> = {}): ApplicationReport {
  return {
    id: "application_1795305600000_0009",
    user: "ada",
    name: "bert",
    queue: "root.ml",
    type: "TONY",
    tags: [],
    state: "ACCEPTED",
    finalStatus: "UNDEFINED",
    currentAttemptId: "appattempt_1795305600000_0009_000001",
    trackingUrl: "http://127.0.0.1:8088/proxy/application_1795305600000_0009/",
    diagnostics: "",
    startTimeMs: 1_795_305_600_000,
    launchTimeMs: 0,
    finishTimeMs: 0,
    progress: 0,
    priority: 0,
    ...changes,
  };
}
