import { type TokenEnding, tokenEnding } from "../../hadoop/security/token-ending.ts";

/** The finding of a NodeManager's memory check, with its own amounts (`699.9 MB`). */
export interface ExceededMemory {
  readonly kind: "physical" | "virtual";
  readonly used: string;
  readonly usedMiB: number;
  readonly limit: string;
  readonly limitMiB: number;
  /** Whether both limits were exceeded; the check names only one. */
  readonly both: boolean;
}

export interface ContainerDiagnostics {
  /** Present when a memory check ended the container. */
  readonly memory?: ExceededMemory;
  /** The address of a file that could not be copied to the node. */
  readonly resource?: string;
  /** A delegation token for copying files to the node that their server no longer accepts. */
  readonly endedToken?: TokenEnding;
  /** The first file that the launch script cannot read, relative to the working directory; it exits there, before the executor starts. */
  readonly unreadable?: string;
  /** The last lines of the container's stderr; empty when YARN does not report them. */
  readonly stderr: readonly string[];
  /** YARN's own message, without time stamps and stack frames, when there is nothing better to show. */
  readonly words: readonly string[];
}

/**
 * Parses a container's diagnostics. The texts come from org.apache.hadoop.yarn.server.nodemanager:
 * containermanager.monitor.ContainersMonitorImpl#formatErrorMessage (2.x: "beyond physical memory limits") and
 * containermanager.launcher.ContainerLaunch#handleContainerExitWithFailure; for a file that could not be fetched, from
 * org.apache.hadoop.yarn.util.FSDownload#verifyAndCopy.
 */
export function parseContainerDiagnostics(text: string): ContainerDiagnostics {
  const memory = exceededMemory(text);
  const resource = missingResource(text);
  const unreadable = unreadableFile(text);
  const endedToken = tokenEnding(text);
  return {
    ...(memory === undefined ? {} : { memory }),
    ...(resource === undefined ? {} : { resource }),
    ...(unreadable === undefined ? {} : { unreadable }),
    ...(endedToken === undefined ? {} : { endedToken }),
    stderr: lastStderr(text),
    words: ownWords(text),
  };
}

/** FSDownload: `File does not exist: URL`, or `Resource URL changed on src filesystem - expected: …`. */
function missingResource(text: string): string | undefined {
  return /(?:does not exist: |Resource )([a-z][a-z0-9+.-]*:\/\S+)/.exec(text)?.[1];
}

/**
 * launch_container.sh lists the working directory by `find -L . -maxdepth 5 -ls`, and exits where that fails
 * (ContainerLaunch.UnixShellScriptBuilder#listDebugInformation; bash's `-e`). GNU find quotes names according to the
 * locale.
 */
function unreadableFile(text: string): string | undefined {
  return /^find: [^\w./]?\.\/(.+?)[^\w./]?: Permission denied$/m.exec(text)?.[1];
}

function exceededMemory(text: string): ExceededMemory | undefined {
  const kind = /beyond (?:the )?'?(PHYSICAL|VIRTUAL)'? memory limit/i.exec(text)?.[1]?.toUpperCase();
  const amounts =
    /Current usage: (\S+ \S+) of (\S+ \S+) physical memory used; (\S+ \S+) of (\S+ \S+) virtual memory used/.exec(text);
  if (kind === undefined || amounts === null) return undefined;
  const [, physicalUsed = "", physicalLimit = "", virtualUsed = "", virtualLimit = ""] = amounts;
  const physical = amount("physical", physicalUsed, physicalLimit);
  const virtual = amount("virtual", virtualUsed, virtualLimit);
  const both = physical.usedMiB > physical.limitMiB && virtual.usedMiB > virtual.limitMiB;
  return { ...(kind === "PHYSICAL" ? physical : virtual), both };
}

function amount(kind: ExceededMemory["kind"], used: string, limit: string): Omit<ExceededMemory, "both"> {
  return { kind, used, usedMiB: mebibytes(used), limit, limitMiB: mebibytes(limit) };
}

/** `699.9 MB`, as org.apache.hadoop.util.StringUtils.TraditionalBinaryPrefix writes it. */
function mebibytes(amount: string): number {
  const [, number = "0", prefix = ""] = /^([\d.]+) ([KMGTPE]?)B$/.exec(amount) ?? [];
  return Number(number) * 1024 ** (["", "K", "M", "G", "T", "P", "E"].indexOf(prefix) - 2);
}

/** The diagnostics repeat the end of stderr; the last copy is used. */
function lastStderr(text: string): string[] {
  const [, ...tails] = text.split(/^Last \d+ bytes of \S*stderr :$/m);
  const lines = (tails.at(-1) ?? "").split("\n");
  const end = lines.findIndex((line) => timeStamp.test(line) || line.startsWith("For more detailed output"));
  return trimmed(end < 0 ? lines : lines.slice(0, end));
}

function ownWords(text: string): string[] {
  const lines = text.split("\n").map((line) => line.replace(timeStamp, "").trimEnd());
  return lines.filter((line) => line.trim() !== "" && !frames.some((frame) => frame.test(line)));
}

const timeStamp = /^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\]/;

/** Lines that do not help a person. */
const frames = [
  /^Exception from container-launch/,
  /^Container id: /,
  /^Exit code: /,
  /^Last \d+ bytes of /,
  /^Container exited with a non-zero exit code/,
  /^Container killed on request/,
  /^Dump of the process-tree/,
  /^\t\|- /,
  /^For more detailed output/,
  /^\. Failing the application/,
  /^\s+at [\w.$/]+\(/,
  // A node keeps the end of its text, which may begin within a frame.
  /^[\w.$/()]*:\d+\)$/,
  /^\s*\.\.\. \d+ more$/,
];

function trimmed(lines: readonly string[]): string[] {
  const isText = (line: string) => line.trim() !== "";
  const first = lines.findIndex(isText);
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex(isText) + 1);
}
