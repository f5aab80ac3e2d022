import { tonyFinalXml, writeTonyFinalXml } from "../../src/history/tony/final-xml.ts";
import type { Settings } from "../../src/job/settings.ts";
import type { JobSpec } from "../../src/job/spec.ts";

/**
 * The file in a job's folder that its ApplicationMaster copies to the job's history, and shows on its page.
 * @returns content by name; empty where the job has neither
 */
export function keptSettings(settings: Settings, spec: JobSpec): Record<string, Uint8Array> {
  if (spec.history.location === undefined && spec.am.page === false) return {};
  return { [tonyFinalXml]: Buffer.from(writeTonyFinalXml(settings, spec)) };
}
