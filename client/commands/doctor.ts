import { ExitCode, UserError } from "../../src/errors.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import type { Cluster as OpenCluster } from "../cluster/cluster.ts";
import type { Finding } from "../cluster/findings.ts";
import { settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import type { ClientContext } from "../context.ts";
import { watchSignals } from "../following/signals.ts";
import type { Output } from "../output/output.ts";
import { wrap } from "../output/wrap.ts";
import type { DoctorJson } from "../printed-json.ts";
import type { ProbeOptions } from "../submission/runtime-probe.ts";

export const doctor = defineCommand({
  verb: "doctor",
  summary: "Check everything a job needs from the cluster, and show how to fix what is wrong",
  positionals: {},
  options: {
    queue: { type: "string", describe: "The queue to check; default tony.yarn.queue" },
    probe: {
      type: "boolean",
      default: true,
      describe: "Start the runtime in a small container; --probe=false skips this",
    },
    ...settingOptions,
    ...jsonOption,
  },
  examples: [["doctor --queue ml", "Check whether a job can run in this queue"]],
  run: async ({ queue: named, probe, conf, json }, context) => {
    const [{ Cluster }, looks, { settingsFindings }, { readSiteSettings }, { thisMachine }, { localRoot }, probing] =
      await Promise.all([
        import("../cluster/cluster.ts"),
        import("../submission/doctor.ts"),
        import("../submission/doctor-settings.ts"),
        import("../cluster/site-settings.ts"),
        import("../../src/machine.ts"),
        import("../applications/local-folder.ts"),
        import("../submission/runtime-probe.ts"),
      ]);
    const settings = readSiteSettings(conf ?? [], context);
    const queue = named ?? settings.queue;
    const here = { machine: thisMachine(context.environment), localRoot: localRoot(context.environment) };
    const report = new Report(context.output, json);
    report.add(settingsFindings(settings.problems));
    let cluster: OpenCluster;
    try {
      cluster = await Cluster.open(context, settings);
      cluster.askBriefly();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      report.add(await looks.examineOffline(error, { ...settings, ...here }));
      return report.end();
    }
    try {
      // Meanwhile the files that the probe needs are uploaded. A failure is reported below, unless the findings explain it already.
      const sending = probe ? probing.shipProbe(cluster, settings, context) : undefined;
      sending?.catch(() => undefined);
      report.add(await looks.examine(cluster, { ...settings, ...here, queue, now: context.now }));
      if (sending !== undefined && report.sound) {
        const files = await sending;
        report.add([
          await whileStoppable(context, (watch) =>
            probing.probeRuntime(cluster, files, { queue, image: settings.image, now: context.now, ...watch }),
          ),
        ]);
      }
      return report.end();
    } finally {
      cluster.close();
    }
  },
});

/** For as long as an application of ours is on the cluster: the first Ctrl-C, SIGTERM or SIGHUP ends it, the second leaves at once. */
async function whileStoppable<T>(
  { output }: ClientContext,
  work: (watch: Pick<ProbeOptions, "stop" | "tell">) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const unwatch = watchSignals({
    stop: (signal) => stop.abort(signal),
    leave: () => process.exit(ExitCode.unknown),
    detach: () => stop.abort("SIGHUP"),
  });
  const tell = (waitedMs: number, reason: string) => {
    const line = `  … nodes            waiting ${durationWords(waitedMs)} for a container`;
    output.waitAside({ lines: [`${line}: ${reason}`], cause: "the probe", line, change: "", facts: [reason] });
  };
  try {
    return await work({ stop: stop.signal, tell });
  } finally {
    output.endWait();
    unwatch();
  }
}

/** Shows findings as they arrive; as JSON all of them at the end. */
class Report {
  readonly #output: Output;
  readonly #json: boolean;
  readonly #findings: Finding[] = [];

  constructor(output: Output, json: boolean) {
    this.#output = output;
    this.#json = json;
  }

  get sound(): boolean {
    return this.#findings.every(({ state }) => state !== "wrong");
  }

  get #columns(): number | undefined {
    return this.#output.isTerminal ? this.#output.columns : undefined;
  }

  add(findings: readonly Finding[]): void {
    this.#findings.push(...findings);
    if (!this.#json) for (const finding of findings) this.#output.print(describe(finding, this.#columns));
  }

  end(): ExitCode {
    if (this.#json) this.#output.json({ findings: this.#findings } satisfies DoctorJson);
    return this.sound ? ExitCode.succeeded : ExitCode.cluster;
  }
}

const marks = { well: "✓", remark: "!", wrong: "✗" } as const;

/** The column where a finding's text begins, after the mark and the subject. */
const indent = 21;

/** @param columns the terminal's width; undefined: lines are as long as they are */
export function describe({ subject, state, found, remedy }: Finding, columns: number | undefined): string {
  const rows = (text: string) => (columns === undefined ? [text] : wrap(text, columns - indent - 1));
  const [first = "", ...rest] = [...rows(found), ...(remedy === undefined ? [] : rows(`→ ${remedy}`))];
  const head = `  ${marks[state]} ${subject.padEnd(15)}  ${first}`;
  return [head, ...rest.map((row) => " ".repeat(indent) + row)].join("\n");
}
