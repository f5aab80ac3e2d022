import { ExitCode, UserError } from "../../src/errors.ts";
import type { NodeReport } from "../../src/hadoop/yarn/records.ts";
import { listWords } from "../../src/job/reasons/words.ts";
import { settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import type { NodesJson } from "../printed-json.ts";

export const nodes = defineCommand({
  verb: "nodes",
  summary: "Show what is free on the cluster's nodes, and who holds the rest",
  positionals: {},
  options: {
    label: { type: "string", describe: "Only nodes with this label" },
    ...settingOptions,
    ...jsonOption,
  },
  examples: [
    ["nodes", "Each node, each label, and every application that holds containers"],
    ["nodes --label gpu", "The nodes with that label"],
  ],
  run: async ({ label, conf, json }, context) => {
    const [{ Cluster }, { readSiteSettings }, { nodesOverview, shownStates }, { heldContainers }, { nodeLines }] =
      await Promise.all([
        import("../cluster/cluster.ts"),
        import("../cluster/site-settings.ts"),
        import("../cluster/nodes-overview.ts"),
        import("../cluster/held-containers.ts"),
        import("../cluster/node-tables.ts"),
      ]);
    const cluster = await Cluster.open(context, readSiteSettings(conf ?? [], context));
    try {
      const [all, reports, held] = await cluster.use(async ({ resourceManager }) => {
        const running = resourceManager.reports({ states: ["ACCEPTED", "RUNNING"] });
        return Promise.all([
          resourceManager.nodes(shownStates),
          running,
          running.then((found) => heldContainers(resourceManager, found)),
        ]);
      });
      const overview = nodesOverview(label === undefined ? all : withLabel(all, label), reports, held);
      if (json) context.output.json(overview satisfies NodesJson);
      else context.output.print(nodeLines(overview).join("\n"));
      return ExitCode.succeeded;
    } finally {
      cluster.close();
    }
  },
});

function withLabel(all: readonly NodeReport[], label: string): readonly NodeReport[] {
  const found = all.filter(({ labels }) => labels.includes(label));
  if (found.length > 0) return found;
  const known = [...new Set(all.flatMap(({ labels }) => labels))].filter((one) => one !== "").sort();
  const others = known.length === 0 ? "no node has a label" : `the nodes' labels are ${listWords(known)}`;
  throw new UserError(`No node has the label ${label}: ${others}`, { code: "UNKNOWN_LABEL" });
}
