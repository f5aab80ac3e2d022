import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { type LogFormat, logFormats, logsAreAggregated, userLogFolder } from "../../src/hadoop/yarn/aggregated-logs.ts";
import type { Finding } from "./finding.ts";

/** Where `tony-ts logs` finds what an ended job printed, and in which format. */
export function logsFinding(configuration: Configuration, user: string): Finding {
  const subject = "logs";
  if (!logsAreAggregated(configuration)) {
    return {
      subject,
      state: "remark",
      found: "the cluster does not keep logs after a job ends (yarn.log-aggregation-enable is false)",
      remedy: "to read them then, set yarn.log-aggregation-enable to true on the cluster and here",
    };
  }
  const formats = logFormats(configuration);
  const found = `kept in ${userLogFolder(configuration, user)} as ${formats.map(formatWords).join(", ")}`;
  const [written] = formats;
  if (written?.kind !== "unknown") return { subject, state: "well", found };
  return {
    subject,
    state: "remark",
    found,
    remedy: `tony-ts reads TFile and indexed files only; for ${written.name} use: yarn logs -applicationId ID`,
  };
}

function formatWords({ name, kind, className }: LogFormat): string {
  if (kind === "TFile") return name;
  return `${name} (${kind === "unknown" ? (className ?? "no class is configured for it") : "indexed files"})`;
}
