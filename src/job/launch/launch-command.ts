import { shellWord } from "../shell-words.ts";
import type { ShippedFile } from "../stored/job-file.ts";
import type { StagingLocation } from "../stored/staging-location.ts";
import type { TaskId } from "../task.ts";
import { BUNDLES, NEXT_EXECUTOR, RUNTIME_NAME } from "./container-names.ts";
import type { EarlySections } from "./early-sections.ts";
import { escapeForLaunchScript } from "./launch-script-text.ts";

/** In the environment of every process of a task's program, and of no other process; the value is the container's id. */
export const PROGRAM_MARKER = "TONY_PROGRAM_OF";

/** The exit code by which an executor says that another task's executor should start in its place: NEXT_EXECUTOR has its variables. */
export const ROOM_MADE = 78;

/** The content of NEXT_EXECUTOR: sets only an executor's own variables. */
export function nextExecutorScript(variables: Readonly<Record<string, string>>): string {
  const lines = Object.values(executorVariable).map((name) => {
    const value = variables[name];
    return value === undefined ? `unset ${name}` : `export ${name}=${shellWord(value)}`;
  });
  return `${lines.join("\n")}\n`;
}

/** Variables of a container's environment that only the executor gets, not its program. */
export const executorVariable = {
  task: "TONY_TASK",
  applicationId: "TONY_APPLICATION_ID",
  masterAddress: "TONY_MASTER_ADDRESS",
  staging: "TONY_STAGING",
  attempt: "TONY_MASTER_ATTEMPT",
  generation: "TONY_FIRST_GENERATION",
  isolationMs: "TONY_ISOLATION_MS",
  sections: "TONY_SECTIONS",
  portNames: "TONY_PORT_NAMES",
  tensorBoard: "TONY_TENSORBOARD",
  reusePort: "TONY_REUSE_PORT",
  memoryMiB: "TONY_CONTAINER_MEMORY_MIB",
  logPrefix: "TONY_LOG_PREFIX",
} as const;

export interface ExecutorLaunch {
  readonly task: TaskId;
  readonly applicationId: string;
  /** `host:port` of the ApplicationMaster. */
  readonly masterAddress: string;
  /** The folder where a later attempt writes its address. */
  readonly staging: StagingLocation;
  readonly attempt: number;
  readonly generation: number;
  /** The job's `timeouts.isolationMs`; an executor gets the spec only when it is welcomed. */
  readonly isolationMs: number;
  readonly sections: EarlySections;
  /** The port names of the role; absent where it has none. */
  readonly portNames?: readonly string[];
  /** Whether the task gets a second port, for TensorBoard. */
  readonly tensorBoard: boolean;
  readonly reusePort: boolean;
  /** The granted memory, not the requested one; absent where it is not enforced. */
  readonly memoryMiB?: number;
  /** See logPrefixOf; absent for a container's first task. */
  readonly logPrefix?: string;
}

/** The executor's own variables; the job's `containerEnvironment` is added to them. */
export function executorVariables(launch: ExecutorLaunch): Record<string, string> {
  const { memoryMiB } = launch;
  const values: Record<keyof typeof executorVariable, string | undefined> = {
    task: launch.task,
    applicationId: launch.applicationId,
    masterAddress: launch.masterAddress,
    staging: JSON.stringify(launch.staging),
    attempt: String(launch.attempt),
    generation: String(launch.generation),
    isolationMs: String(launch.isolationMs),
    sections: JSON.stringify(launch.sections),
    portNames: launch.portNames?.join(","),
    tensorBoard: launch.tensorBoard ? "true" : undefined,
    reusePort: launch.reusePort ? "true" : undefined,
    memoryMiB: memoryMiB === undefined ? undefined : String(memoryMiB),
    logPrefix: launch.logPrefix,
  };
  return Object.fromEntries(
    Object.entries(executorVariable).flatMap(([key, name]) => {
      const value = Object.entries(values).find(([field]) => field === key)?.[1];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

export interface ProgramLaunch {
  /** The runtime's link in the working directory, or an absolute path (`node` of JobFile). */
  readonly node: string;
  /** The link of one of our bundles. */
  readonly bundle: typeof BUNDLES.am | typeof BUNDLES.executor;
  /** The files in the container's working directory. */
  readonly files: readonly ShippedFile[];
}

/** The file in a container's log folder that one of our programs logs to; what it cannot log goes to `stderr`. */
export function logFileOf(bundle: ProgramLaunch["bundle"]): string {
  return bundle === BUNDLES.am ? "am.log" : "executor.log";
}

/**
 * The command of a container that runs one of our programs, in the form of ContainerLaunchContext's `commands`. Apart from starting it, the
 * shell
 * - gives a file with several names all of them: YARN creates only one of several links to a file (ContainerExecutor#resolveSymLinks of 3.x),
 * - runs our files only if they are unchanged, by their hashes,
 * - writes one message to `stderr`, whose end YARN puts into the container's diagnostics, if this node cannot run the runtime, and none if the
 *   program itself has written why it does not start,
 * - forwards SIGTERM to the program,
 * - kills what is left of the task's program when the executor has ended for whatever reason,
 * - starts the next task's executor when the executor's exit code says that the container is now another task's.
 */
export function launchCommand({ node, bundle, files }: ProgramLaunch): string {
  const script = prelude
    .replace("@LINKS@", () => linksOf(files))
    .replace("@CHECKS@", () => checksOf(files))
    .replaceAll("@NODE@", runtimeWord(node))
    .replaceAll("@OPTIONS@", runtimeOptions(bundle).join(" "))
    .replaceAll("@BUNDLE@", shellWord(bundle))
    .replaceAll("@LOG@", shellWord(logFileOf(bundle)))
    .replaceAll("@LOG_PREFIX@", executorVariable.logPrefix)
    .replaceAll("@NEXT@", NEXT_EXECUTOR)
    .replaceAll("@ROOM_MADE@", String(ROOM_MADE))
    .replaceAll("@MARKER@", PROGRAM_MARKER);
  return escapeForLaunchScript(script.trim());
}

/** One line for each file that exists under several names. */
function linksOf(files: readonly ShippedFile[]): string {
  const namesOf = new Map<string, string[]>();
  for (const { link, url, type } of files) {
    const key = `${type} ${url}`;
    namesOf.set(key, [...(namesOf.get(key) ?? []), shellWord(`./${link}`)]);
  }
  const lines = [...namesOf.values()].flatMap((same) => {
    if (same.length < 2) return [];
    const names = same.join(" ");
    return [
      `for name in ${names}; do [ -e "$name" ] && there=$name; done`,
      `for name in ${names}; do [ -e "$name" ] || ln -s "$(readlink -f "$there")" "$name"; done`,
    ];
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** One line for each file with a hash. Of the runtimes for several architectures only the node's own is run. */
function checksOf(files: readonly ShippedFile[]): string {
  const lines = files.flatMap(({ link, sha256, url }) => {
    if (sha256 === undefined) return [];
    const condition = link.startsWith(`${RUNTIME_NAME}-`) ? `[ @NODE@ != ${shellWord(`./${link}`)} ] || ` : "";
    return [`  ${condition}check ${sha256} ${shellWord(link)} ${shellWord(url)}`];
  });
  return lines.join("\n");
}

/**
 * Node's options for our programs in containers. The ApplicationMaster gets a young generation of 2 MiB, which the garbage collector
 * visits more often: by default V8 lets it grow to 48 MiB when a thousand executors talk to it, and keeps that; and it may trigger
 * garbage collection itself, which bounds what unauthorised callers leave behind (src/api/leavings.ts). An executor gets no option: with
 * any V8 option, Node ignores its precompiled built-in modules, which costs a fifth of an executor's start.
 */
export function runtimeOptions(bundle: ProgramLaunch["bundle"]): readonly string[] {
  return bundle === BUNDLES.am ? ["--max-semi-space-size=2", "--expose-gc"] : [];
}

/**
 * One malloc arena instead of one per thread saves 330 MB of virtual memory, which YARN counts; programs do not inherit the setting.
 * Signals are caught from before the program starts; one that arrives during the start is forwarded afterwards. The shell waits again
 * when a signal interrupts its wait. One `grep` searches the environments of all processes for the marker: exact, and fast on a node with
 * thousands of them; further rounds wait until the killed processes are gone, and catch new forks.
 */
const prelude = `
sweep() {
  for round in {1..50}; do
    left=
    for file in $(grep -lszxF "@MARKER@=$CONTAINER_ID" /proc/[0-9]*/environ); do
      pid="\${file#/proc/}"
      kill -KILL "\${pid%/environ}" 2>/dev/null && left=1
    done
    [ -z "$left" ] && break
    sleep 0.05
  done
}
check() {
  command -v sha256sum >/dev/null || return 0
  found=$(sha256sum <"$2")
  found=\${found%% *}
  [ "$found" = "$1" ] && return
  printf 'tony-ts: %s on %s is not the file that was submitted, and is not run: %s has SHA-256 %s, expected %s. Remove it there, and the node fetches it again. If other nodes report the same, remove %s and submit again.\\n' \\
    "$2" "$NM_HOST" "$(readlink -f "$2")" "\${found:-none}" "$1" "$3" >&2
  exit 1
}
@LINKS@told=
while :; do
  log="\${LOG_DIRS%%,*}/$@LOG_PREFIX@"
  exec 2>>"\${log}stderr"
@CHECKS@
  program=
  trap 'signalled=1; told=1; [ -n "$program" ] && kill -TERM "$program" 2>/dev/null' TERM INT HUP
  MALLOC_ARENA_MAX=1 @NODE@ @OPTIONS@ @BUNDLE@ >>"$log"@LOG@ &
  program=$!
  [ -n "$told" ] && kill -TERM "$program" 2>/dev/null
  while :; do
    signalled=
    wait "$program"
    code=$?
    [ -n "$signalled" ] && kill -0 "$program" 2>/dev/null && continue
    [ -n "$signalled" ] && wait "$program" && code=$?
    break
  done
  sweep
  [ "$code" -eq @ROOM_MADE@ ] && [ -z "$told" ] && . ./@NEXT@ && rm @NEXT@ || break
done
if [ "$code" -ne 0 ] && [ ! -s "$log"@LOG@ ] && [ -z "$signalled" ] && ! grep -q '^tony-ts: ' "\${log}stderr"; then
  if [ ! -x @NODE@ ] && [ -n "$(find -L @NODE@ -perm -0100 2>/dev/null)" ]; then
    printf 'tony-ts: %s could not be started on %s: %s lets no program run (it is mounted noexec). Mount it without noexec, name another folder in yarn.nodemanager.local-dirs, or set tony.node.binary=local:/path to a Node that every node has elsewhere.\\n' \\
      @BUNDLE@ "$NM_HOST" "$(df --output=target . | tail -n 1)" >&2
  else
    printf 'tony-ts: %s could not be started by %s on %s (exit %s; %s, %s). If what it said names a library, a format or the file itself, set tony.node.binary to a Node runtime that fits this node.\\n' \\
      @BUNDLE@ @NODE@ "$NM_HOST" "$code" "$(uname -m)" "$(getconf GNU_LIBC_VERSION 2>/dev/null || echo 'no glibc')" >&2
  fi
fi
exit "$code"
`;

/** In the name of a runtime: replaced by the output of `uname -m` on the node. */
export const MACHINE = "{machine}";

/** A runtime, given by its link or absolute path, as the first word of a shell command. */
export function runtimeWord(node: string): string {
  const word = node.startsWith("/") ? node : `./${node}`;
  return word.split(MACHINE).map(shellWord).join('"$(uname -m)"');
}
