import { ExitCode } from "../../src/errors.ts";
import { placeOptions } from "../applications/backend.ts";
import type { Finding } from "../cluster/finding.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";

export const doctor = defineCommand({
  verb: "doctor",
  summary: "Look at everything a job needs of the cluster, and say what is wrong and how to mend it",
  positionals: {},
  options: {
    queue: { type: "string", default: "default", describe: "The queue that jobs go to" },
    probe: {
      type: "boolean",
      default: true,
      describe: "Start the runtime in a small container; --probe=false leaves that out",
    },
    ...placeOptions,
    ...jsonOption,
  },
  run: async ({ queue, probe, conf, json }, context) => {
    const [{ Cluster }, { examine }, { readPlace }, { probeRuntime }] = await Promise.all([
      import("../cluster/cluster.ts"),
      import("../cluster/doctor.ts"),
      import("../submission/place.ts"),
      import("../cluster/runtime-probe.ts"),
    ]);
    const place = readPlace(conf ?? [], context);
    const cluster = new Cluster(context, place);
    try {
      const findings = await examine(cluster, { ...place, queue, now: context.now });
      const sound = findings.every(({ state }) => state !== "wrong");
      if (probe && sound) findings.push(await probeRuntime(cluster, { ...place, queue }, context));
      if (json) context.output.json({ findings });
      else for (const finding of findings) context.output.print(describe(finding));
      return findings.every(({ state }) => state !== "wrong") ? ExitCode.succeeded : ExitCode.cluster;
    } finally {
      cluster.close();
    }
  },
});

const marks = { well: "✓", remark: "!", wrong: "✗" } as const;

function describe({ subject, state, found, remedy }: Finding): string {
  const line = `  ${marks[state]} ${subject.padEnd(15)}  ${found}`;
  return remedy === undefined ? line : `${line}\n${" ".repeat(21)}→ ${remedy}`;
}
