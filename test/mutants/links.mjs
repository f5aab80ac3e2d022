import { mutantsOf } from "./mutant.mjs";

/** Bugs of what passes between ApplicationMaster, executors and clients, and of the executor. */
export const LINK_MUTANTS = [
  ...mutantsOf("am/mailbox.ts", { unit: "am/mailbox.test" }, [
    {
      bug: "what comes while an event is handled is handled within it",
      from: "    this.#queue.push(event);\n    this.#drain();",
      to: "    this.#handle(event);",
    },
    {
      bug: "after standing still it acts without asking",
      from: ' && this.#state === "open") void this.#hold();',
      to: " && false) void this.#hold();",
    },
    { bug: "one that was replaced goes on", from: "    if (current) {", to: "    if (true) {" },
  ]),
  ...mutantsOf("am/storage/journal.ts", { unit: "am/storage/journal.test" }, [
    {
      bug: "a snapshot is written under its final name",
      from: "await createReadable(fileSystem, draft, content, 0o600);",
      to: "await createReadable(fileSystem, target, content, 0o600);",
    },
    {
      bug: "a file system that is away ends the attempt",
      from: "    mayPass: () => true,",
      to: "    mayPass: () => false,",
    },
  ]),
  ...mutantsOf("src/api/identity.ts", { unit: "api/identity.test" }, [
    {
      bug: "a client is another one when he spells his token in another way",
      from: 'identifier.toString("base64url") === spelled ? identifier : undefined',
      to: "identifier",
    },
  ]),
  ...mutantsOf("src/tcp-sockets.ts", { unit: "tcp-sockets.test" }, [
    {
      bug: "who has closed his connection is taken for root",
      from: "inode === NO_INODE ? undefined : Number(uid)",
      to: "Number(uid)",
    },
  ]),
  ...mutantsOf("src/job/stored/carried-lists.ts", { unit: "executor/carrier/restore.test" }, [
    {
      bug: "a checkpoint of somebody else is written outside its folder",
      from: 'text.split("/").includes("..")',
      to: "false",
    },
  ]),
  ...mutantsOf("src/journal/reader.ts", { unit: "am/storage/journal.test" }, [
    { bug: "the oldest entry is read", from: "number(b) - number(a)", to: "number(a) - number(b)" },
    {
      bug: "an entry that cannot be used hides those before it",
      from: "      unreadable.push(`${file}: ${errorMessage(error)}`);",
      to: "      unreadable.push(`${file}: ${errorMessage(error)}`);\n      return { unreadable };",
    },
  ]),
  ...mutantsOf("src/journal/entry.ts", { unit: "journal/entry.test" }, [
    {
      bug: "a damaged entry is used",
      from: '  if (text !== `${lines}${digest(lines)}\\n`) throw unreadable("its checksum differs");\n',
      to: "",
    },
    {
      bug: "a journal of another version is used",
      from: "  if (version !== journalVersion) throw unreadable(`its version is ${String(version)}, not ${journalVersion}`);\n",
      to: "",
    },
  ]),
  ...mutantsOf("src/api/fence.ts", { unit: "api/" }, [
    {
      bug: "an executor obeys an attempt that was replaced",
      from: 'if (message.attempt < own.attempt) return "lower-attempt";',
      to: "",
    },
    { bug: "a signal for an earlier generation is passed on", from: '    case "signal-child":\n', to: "" },
    { bug: "an acknowledgement of an earlier generation counts", from: '    case "acknowledge-exit":\n', to: "" },
    {
      bug: "an ApplicationMaster that was replaced does not notice",
      from: 'if (message.attempt > ownAttempt) return "higher-attempt";',
      to: "",
    },
    {
      bug: "what was meant for an earlier attempt is believed",
      from: '  if (message.attempt < ownAttempt && message.body.type !== "register") return "lower-attempt";\n',
      to: "",
    },
  ]),
  ...mutantsOf("src/api/authentication.ts", { unit: "api/" }, [
    {
      bug: "any proof will do",
      from: "given.length === wanted.length && timingSafeEqual(given, wanted)",
      to: "given.length === wanted.length",
    },
    {
      bug: "a caller is believed whatever certificate it was shown",
      from: "update(`${side} `).update(certificate)",
      to: "update(`${side} `)",
    },
    {
      bug: "a server that has not proved itself is told everything",
      from: "if (isProved) next(message);",
      to: "if (!isProved) next(message);",
    },
  ]),
  ...mutantsOf("src/api/executor-endpoint.ts", { unit: "api/" }, [
    {
      bug: "the stream that another one replaced is reported as lost",
      from: 'this.#options.handler.disconnected(previous, "replaced");',
      to: 'this.#options.handler.disconnected(previous, "broken");',
    },
    {
      bug: "the end of a replaced stream is the end of its executor",
      from: "if (this.#links.get(link.containerId) !== link) return;",
      to: "",
    },
    { bug: "a stream may report before it registers", from: "} else if (!link.admitted) {", to: "} else if (false) {" },
    {
      bug: "whoever says that there is a later attempt ends this one",
      from: "if (isAttemptProof(identity, attempt, given)) handler",
      to: "if (given !== undefined) handler",
    },
    {
      bug: "an executor speaks for another container",
      from: "containerId === this.containerId && (!this.admitted || task === this.task)",
      to: "!this.admitted || task === this.task",
    },
    {
      bug: "an executor takes another task in the middle of its stream",
      from: "containerId === this.containerId && (!this.admitted || task === this.task)",
      to: "containerId === this.containerId",
    },
    { bug: "a goodbye is a broken stream", from: 'if (body.type === "goodbye") link.saidGoodbye = true;', to: "" },
  ]),
  ...mutantsOf("executor/executor.ts", { unit: "executor/executor.test" }, [
    {
      bug: "a stream that was opened before the program was suspended does not hear of that",
      from: "this.#isolation.begin(silentMs);\n    this.#link.register();",
      to: "this.#isolation.begin(silentMs);",
    },
  ]),
  ...mutantsOf("executor/generation/generation.ts", { unit: "executor/executor.test" }, [
    { bug: "a stop that comes before the start is lost", from: "this.#stopBeforeStart = order.reason;", to: "" },
  ]),
  ...mutantsOf("am/clients/client-rights.ts", { unit: "am/clients/client-rights" }, [
    {
      bug: "a namesake of another realm is let in",
      from: 'const user = client === "" ? undefined : this.#options.localNameOf(client);',
      to: "const user = client.split(/[@/]/)[0];",
    },
    {
      bug: "who may see a job may end it",
      from: "const { everybody, users, groups } = this.#lists[right];",
      to: "const { everybody, users, groups } = this.#lists.view;",
    },
  ]),
  ...mutantsOf("am/executors/executor-links.ts", { unit: "am/executors/executor-links" }, [
    {
      bug: "an executor that was cut off when it had to make room stays",
      from: "tenant !== undefined && tenant.task !== link.task",
      to: "tenant !== undefined && false",
    },
    {
      bug: "an executor that has come for its task is told to make room by the next attempt",
      from: "    if (link?.task === task) return;\n    this.#byContainer.delete",
      to: "    this.#byContainer.delete",
    },
    {
      bug: "an executor that makes room is heard for the task that comes",
      from: "    this.#byContainer.delete(containerId);\n    this.#known.delete(containerId);\n",
      to: "    this.#known.delete(containerId);\n",
    },
    {
      bug: "the next task's first registration is taken for a return",
      from: "    this.#known.delete(containerId);\n",
      to: "",
    },
    {
      bug: "a command for a task reaches the executor of another",
      from: "if (link?.task !== task) return;",
      to: "if (link === undefined) return;",
    },
  ]),
  ...mutantsOf("executor/executor-end.ts", { unit: "executor/executor.test" }, [
    {
      bug: "an executor leaves its task's files in the working directory",
      from: "      .then(() => workFolder.restore())\n",
      to: "",
    },
  ]),
  ...mutantsOf("src/rotating-log.ts", { unit: "rotating-log" }, [
    {
      bug: "what a program writes while its output is being closed is lost",
      from: "const bytes = appendRest(this.file, unfinished);",
      to: "const bytes = sizeOf(unfinished);",
    },
    {
      bug: "closed output is never removed",
      from: "      this.#removeOldest(limits.maxFiles - 1);\n",
      to: "",
    },
    {
      bug: "closed output that YARN has stored and removed is read",
      from: " && sizeOf(file) === bytes)",
      to: ")",
    },
    {
      bug: "after a log was closed its bytes are counted from 0 again",
      from: "    this.#start += bytes;\n",
      to: "",
    },
  ]),
  ...mutantsOf("executor/processes/process-tree.ts", { unit: "executor/processes/process-tree.test" }, [
    {
      bug: "output is cut while some of a program's processes run",
      from: "if (await this.#holdAll(held)) work();",
      to: "await this.#holdAll(held);\n      work();",
    },
    {
      bug: "a program that is suspended goes on when its output has been closed",
      from: "else if (this.#suspension === undefined) for",
      to: "else for",
    },
  ]),
  ...mutantsOf("src/job/closed-log.ts", { unit: "client/submission/submission-context" }, [
    {
      bug: "YARN stores and removes what a program writes to",
      from: 'CLOSED_LOGS = "\\\\.[0-9]{12,}$"',
      to: 'CLOSED_LOGS = ".*"',
    },
  ]),
  ...mutantsOf("executor/preparation/work-folder.ts", { unit: "executor/preparation/work-folder" }, [
    {
      bug: "the next task finds a file missing",
      from: "    if (gone === undefined) return;\n",
      to: "    return;\n",
    },
    {
      bug: "what a task left inside a folder of the container's stays",
      from: "if (entry.isDirectory()) for (const inner of await this.#clear(name)) left.add(inner);",
      to: "if (entry.isDirectory()) for (const known of this.#names) left.add(known);",
    },
  ]),
  ...mutantsOf("src/job/launch/launch-command.ts", { unit: "job/launch/launch-command" }, [
    {
      bug: "the next executor gets variables of the one before",
      from: "`unset ${name}`",
      to: '""',
    },
    {
      bug: "an executor starts in a container that its node is ending",
      from: ' && [ -z "$told" ] && . ./@NEXT@',
      to: " && . ./@NEXT@",
    },
    {
      bug: "the next executor's variables stay for the one after it",
      from: ". ./@NEXT@ && rm @NEXT@ || break",
      to: ". ./@NEXT@ || break",
    },
  ]),
  ...mutantsOf("executor/reports.ts", { unit: "executor/executor.test" }, [
    {
      bug: "an exit that nobody acknowledged is not said again",
      from: 'const unsaid = [exit && !exitAcknowledged ? ({ type: "child-exited", exit } as const) : undefined];',
      to: "const unsaid = [undefined];",
    },
  ]),
  ...mutantsOf("executor/generation/generations.ts", { unit: "executor/executor.test" }, [
    {
      bug: "a new ApplicationMaster's order to make ready stops what runs",
      from: "    if (number === previous.number) {",
      to: "    if (false) {",
    },
  ]),
  ...mutantsOf("executor/master/master-link.ts", { unit: "executor/master/master-link.test" }, [
    {
      bug: "it goes back to an earlier attempt",
      from: "if (candidate.attempt < attempt) return { accepted: false",
      to: "if (false) return { accepted: false",
    },
  ]),
  ...mutantsOf("executor/master/master-absence.ts", { unit: "executor/master/master-absence.test" }, [
    {
      bug: "the ApplicationMaster's silence ends a program at once",
      from: "this.#orphan = callAfter(delayMs, ",
      to: "this.#orphan = callAfter(0, ",
    },
    {
      bug: "nobody looks into the staging folder for the next attempt",
      from: "    this.#scheduleLook(0, this.#patienceMs / 3);\n",
      to: "",
    },
    {
      bug: "an executor counts its isolation from when it noticed it",
      from: "this.#awaitIsolation(this.#sinceMs - LONGEST_UNNOTICED_MS);",
      to: "this.#awaitIsolation(this.#sinceMs);",
    },
    {
      bug: "a staging folder that was reached once counts as reached for ever",
      from: "    this.#awaitIsolation(lookedAtMs);\n",
      to: "    clearTimeout(this.#isolation);\n",
    },
  ]),
  ...mutantsOf("am/attempt-watch.ts", { unit: "am/attempt-watch" }, [
    {
      bug: "an attempt that reaches nobody but its executors keeps them for ever",
      from: "silentMs >= expiryMs && nowMs - this.#reachedAtMs >= Math.min(isolationMs, expiryMs)",
      to: "false",
    },
    {
      bug: "an attempt that reaches nobody outlives YARN's time where that is short",
      from: "Math.min(isolationMs, expiryMs)",
      to: "isolationMs",
    },
    {
      bug: "an attempt gives way of the ResourceManager's outage alone",
      from: "      this.#reachedAtMs = nowMs;\n      if (latest",
      to: "      if (latest",
    },
    { bug: "an attempt gives way of its own pause", from: "stoodStill || ", to: "" },
  ]),
  ...mutantsOf("src/journal/task-life.ts", { unit: "journal/task-life.test" }, [
    { bug: "an older snapshot ends a task", from: "task.generation > life.generation && ", to: "" },
    {
      bug: "a restart in place ends the executor",
      from: " && task.containerId !== life.containerId",
      to: "",
    },
  ]),
  ...mutantsOf("executor/processes/process-tree.ts", { unit: "executor/processes/process-tree.test" }, [
    {
      bug: "what a suspended program had forked meanwhile runs on",
      from: "    this.#suspension = setTimeout(() => this.#keepSuspended(nextMs), nextMs);",
      to: "    this.#suspension = setTimeout(() => {}, nextMs);",
    },
  ]),
  ...mutantsOf("src/frameworks/elastic-horovod/meeting.ts", { unit: "frameworks/elastic-horovod/meeting.test" }, [
    {
      bug: "those that train are not waited for",
      from: "this.#members.some((task) => !this.#asks(task))",
      to: "false",
    },
    {
      bug: "who was lost is still waited for",
      from: "this.#members = this.#members?.filter((member) => member !== task);",
      to: "",
    },
    {
      bug: "who was answered counts as one that asks again",
      from: "    this.#asking.clear();\n",
      to: "",
    },
    {
      bug: "too few train",
      from: "ready.length < this.#options.least && !this.#isShareDone",
      to: "false",
    },
  ]),
];
