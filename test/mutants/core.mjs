import { mutantsOf } from "./mutant.mjs";

const core = { unit: "am/core/" };

/** Bugs of the ApplicationMaster's decisions. */
export const CORE_MUTANTS = [
  ...mutantsOf("am/core/job/early.ts", core, [
    {
      bug: "an executor that finds a later attempt before its journal is read is sent away",
      from: "identity.attempt > 1 &&",
      to: "identity.attempt > 9 &&",
    },
  ]),
  ...mutantsOf("src/job/reasons/endings.ts", core, [
    {
      bug: "a preemption is charged",
      from: '  "container-preempted": "preemption",\n',
      to: "",
    },
    {
      bug: "a node that was taken out of the cluster is charged",
      from: '  "node-decommissioned": "decommissioning",\n',
      to: "",
    },
  ]),
  ...mutantsOf("am/core/failures/cause.ts", core, [
    {
      bug: "a node that was cut off long ago explains a lost connection",
      from: " && atMs <= toMs + isolationMs",
      to: "",
    },
    {
      bug: "a node that was cut off explains any exit",
      from: "ending.strength !== Strength.peerLost",
      to: "ending.strength > Strength.exit",
    },
    {
      bug: "a stronger cause that comes later does not take the blame over",
      from: "return ending.strength > root.strength ||",
      to: "return",
    },
    {
      bug: "of two equal causes the later one is the root",
      from: "ending.seenAtMs < root.seenAtMs",
      to: "ending.seenAtMs > root.seenAtMs",
    },
    {
      bug: "a lost connection outweighs what an earlier attempt gave up for a reason of its own",
      from: "    verdict.root = givenUp.task;\n",
      to: "",
    },
    {
      bug: "a program that was killed is judged before YARN's word can have come",
      from: '(source === "child" && KILLED.has(exit))',
      to: "false",
    },
    {
      bug: "a shell's word for a program that got SIGTERM (143) is not known",
      from: '"SIGKILL", "143", "137"',
      to: '"SIGKILL", "137"',
    },
    {
      bug: "a program's own failure is forgotten when its container was told to end",
      from: '(isCause || earlier.source === "link")',
      to: "true",
    },
    {
      bug: "a limit that a container exceeds is the end of a program that had ended before",
      from: "!hadEndedBefore(earlier, ending)",
      to: "true",
    },
  ]),
  ...mutantsOf("am/core/failures/evidence.ts", core, [
    {
      bug: "a machine stays blamed after YARN's word showed that it was not at fault",
      from: "    pardon(step, earlier);",
      to: "",
    },
    {
      bug: "what was charged to the wrong budget is not given back",
      from: "    refund(gang, verdict.charged);\n",
      to: "",
    },
  ]),
  ...mutantsOf("am/core/failures/verdict.ts", core, [
    {
      bug: "a task that an earlier attempt had stopped is taken for failed",
      from: 'policy === "none" && !isCounted(ending)',
      to: "false",
    },
    {
      bug: "a program that was suspended is heard of too late for what is being judged",
      from: "    reconsider(step, gang, verdict);\n",
      to: "",
    },
    {
      bug: "YARN's word on a task whose program we stopped is taken for a cause",
      from: "isAwaited(open, ending) &&",
      to: "",
    },
    {
      bug: "a tolerated failure ends the generation",
      from: "if (toleratesFailure(step, task) && isCounted(ending)",
      to: "if (false && isCounted(ending)",
    },
    {
      bug: "a task that fails while the gang restarts opens a second verdict",
      from: "  if (isRestarting(gang) && restartsWithGang(step, task)) {\n    return;\n  }\n",
      to: "",
    },
    {
      bug: "after a takeover a verdict does not wait for executors that were not heard yet",
      from: "rejoinLeftMs(step) + step.spec.timeouts.verdictMs",
      to: "step.spec.timeouts.verdictMs",
    },
  ]),
  ...mutantsOf("am/core/failures/verdict.ts", core, [
    {
      bug: "a verdict whose time is up waits on",
      from: "(verdict.deadline === undefined || isEmpty(verdict.unaccounted))",
      to: "isEmpty(verdict.unaccounted)",
    },
  ]),
  ...mutantsOf("am/core/policies/group-limit.ts", core, [
    {
      bug: "a role's time after a group begins with the end of the group's first role",
      from: "roles.every((name)",
      to: "roles.some((name)",
    },
  ]),
  ...mutantsOf("am/core/job/group-limits.ts", core, [
    {
      bug: "a role that may run on for a time after a group may do so for ever",
      from: "groupDeadlines[position] = deadlineIn(step, limit.limitMs);",
      to: "groupDeadlines[position] = deadlineIn(step, 1e12);",
    },
  ]),
  ...mutantsOf("am/core/policies/tolerance.ts", core, [
    {
      bug: "every tolerated failure counts, a chief's too",
      from: 'role.tracking === "tracked" && !isChief',
      to: 'role.tracking === "tracked"',
    },
  ]),
  ...mutantsOf("am/core/failures/budgets.ts", core, [
    {
      bug: "a role whose failure ends the job is restarted",
      from: 'return roleOf(step, task).stopOnFailure && ending.class === "program" && isCounted(ending);',
      to: "return false;",
    },
    {
      bug: "machines may fail one task for ever",
      from: "if (isExhausted(step, task, root)) {",
      to: "if (false) {",
    },
  ]),
  ...mutantsOf("am/core/failures/budgets.ts", core, [
    {
      bug: "a wrong charge is not given back",
      from: "    charges.splice(position, 1);",
      to: "",
    },
    { bug: "one restart more than the budget has", from: "return used < limit;", to: "return used <= limit;" },
  ]),
  ...mutantsOf("am/core/failures/budgets.ts", core, [
    {
      bug: "a node stays excluded though what it was excluded for was not its fault",
      from: "if (node.excluded && node.failures < step.spec.failure.blame.node) {",
      to: "if (false) {",
    },
    {
      bug: "a machine stays blamed for a container that was preempted, where no verdict waited for YARN's status",
      from: 'container.phase === "terminating" && container.machineFailures > 0',
      to: "false",
    },
    {
      bug: "every failure blames the machine",
      from: "  if (!ending.machine) {\n    return;\n  }\n  const { failure } = step.spec;",
      to: "  const { failure } = step.spec;",
    },
    { bug: "half of the nodes may be kept off", from: "some * 3 <= all", to: "some * 2 <= all" },
    {
      bug: "what a machine did before ten healthy minutes is not forgotten",
      from: "        task.machineFailures = 0;\n".slice(2),
      to: "",
    },
    {
      bug: "a file is at fault as soon as one node cannot fetch it",
      from: "return first === host ? undefined :",
      to: "return",
    },
  ]),
  ...mutantsOf("am/core/containers/containers.ts", core, [
    {
      bug: "an executor whose stream broke while it was silent counts as silent for ever",
      from: "const heard = isNew ? { silent: false, lastHeardMs: 0 } : {};",
      to: "const heard = {};",
    },
    {
      bug: "streams that break and executors that are silent are counted apart",
      from: 'return link === "broken" || (link === "up" && silent);',
      to: 'return link === "broken";',
    },
    {
      bug: "surplus containers are kept",
      from: '    emit(step, { type: "release", containerIds: surplus, reason: "no task needs it" });',
      to: "",
    },
    {
      bug: "a container on an excluded host is used",
      from: "if (task === undefined || isKeptOff(step, given.host)) {",
      to: "if (task === undefined) {",
    },
    {
      bug: "containers are bound while the gang pauses before it asks again",
      from: " && (hold.askAgainAtMs === 0 || (hold.isVain && isLarge(step, position)));",
      to: ";",
    },
    { bug: "what YARN gives is not counted off the ask", from: "      ask.outstanding--;", to: "" },
    {
      bug: "a container that is known already is taken again",
      from: "    if (isKnown(step, given.containerId)) {\n      continue;\n    }\n",
      to: "",
    },
    {
      bug: "a container that is given up is released before YARN's word on it",
      from: '  vacate(step, container, "executor-gone", reason);',
      to: '  vacate(step, container, "executor-gone", reason);\n  emit(step, { type: "release", containerIds: [container.id], reason });',
    },
  ]),
  ...mutantsOf("am/core/containers/transfers.ts", { unit: "am/core/containers/transfers" }, [
    {
      bug: "a job fails by results of a task that did not succeed",
      from: '(what !== "output" || phase === "succeeded")',
      to: "true",
    },
  ]),
  ...mutantsOf("am/core/containers/placement.ts", core, [
    { bug: "two roles are promised the same room of a host", from: "    take(candidate, resource, room);", to: "" },
    {
      bug: "an excluded host is named",
      from: " && !isKeptOff(step, node.host)",
      to: "",
    },
    {
      bug: "a labelled node whose label is exclusive serves everybody",
      from: "node.labels.length === 0 || node.nonExclusive === true",
      to: "true",
    },
    { bug: "pack spreads", from: "b.held - a.held || b.room - a.room", to: "a.held - b.held || a.room - b.room" },
  ]),
  ...mutantsOf("am/core/containers/asks.ts", core, [
    {
      bug: "after a restart of the ResourceManager nothing is asked for again",
      from: "    said.outstanding = -1;",
      to: "",
    },
    {
      bug: "kept containers that may yet name their task are asked for as well",
      from: "waiting - (step.state.unclaimed[position] ?? 0)",
      to: "waiting",
    },
    { bug: "hosts that bring nothing are named for ever", from: "      said.hintsExhausted = true;", to: "" },
  ]),
  ...mutantsOf("am/core/gang/hold.ts", core, [
    {
      bug: "what is registered is given back with the rest",
      from: "unregistered.length > 0 && !gang.hold.isVain ? unregistered : held",
      to: "held",
    },
    {
      bug: "two gangs that gave back ask again at the same moment",
      from: "baseMs * (0.5 + fraction(`${state.applicationId} ${returns}`))",
      to: "baseMs",
    },
    {
      bug: "the pause before a gang asks again does not grow",
      from: "AskAgain.initialMs * 2 ** Math.min(returns, 10)",
      to: "AskAgain.initialMs",
    },
    {
      bug: "a gang that is stuck in part holds on",
      from: "gang.hold.deadline ??= deadlineIn(step, holdMs(step, gang));",
      to: "gang.hold.deadline = undefined;",
    },
  ]),
  ...mutantsOf("am/core/journal/fields.ts", core, [
    {
      bug: "the job's time limits begin anew with each attempt",
      from: '  startedAtMs: "kept",',
      to: '  startedAtMs: "own",',
    },
    { bug: "what waits for the journal dies with its attempt", from: '  held: "kept",', to: '  held: "own",' },
  ]),
  ...mutantsOf("am/core/policies/completion.ts", core, [
    {
      bug: "a role that is no longer waited for is waited for",
      from: " && !step.state.untracked.includes(role.name)",
      to: "",
    },
    {
      bug: "where failures are tolerated, a task that lost its container is never done",
      from: "counts.failed + counts.lost",
      to: "counts.failed",
    },
  ]),
  ...mutantsOf("am/core/job/done.ts", core, [
    {
      bug: "a stage of untracked roles alone is waited for",
      from: " && isWaitedFor(step, gang);",
      to: ";",
    },
    {
      bug: "a stage of which nothing succeeded counts as done where failures are tolerated",
      from: "if (fruitless !== undefined) {",
      to: "if (false && fruitless !== undefined) {",
    },
    {
      bug: "a job ends as succeeded while a failure is still held",
      from: " || gang.verdicts.some(endsJob)",
      to: "",
    },
    {
      bug: "a job all of whose tasks failed and were tolerated has succeeded",
      from: 'succeeded === 0 ? "failed" : "succeeded"',
      to: '"succeeded"',
    },
    {
      bug: "an evaluator has no grace",
      from: "gang.graceEndsAtMs = step.nowMs + afterChiefMs;",
      to: "gang.graceEndsAtMs = step.nowMs;",
    },
  ]),
  ...mutantsOf("am/core/executors/registration.ts", core, [
    {
      bug: "a start that was lost with a broken stream is not said again",
      from: "    resendStart(step, task);",
      to: "",
    },
    {
      bug: "a program that had not begun begins on a node that leaves",
      from: "if (!startsAgain(step, task) || !departUnstarted(step, container, task)) {",
      to: "if (true) {",
    },
    {
      bug: "a stop that was lost with a broken stream is not said again",
      from: '      resendStop(step, task, { code: "generation-ended", why: "it is to stop" });',
      to: "",
    },
    {
      bug: "an executor of a container that is not the job's goes on",
      from: '    dismiss(step, registration, { graceMs: 0, reason: { code: "replaced", why } });',
      to: "",
    },
  ]),
  ...mutantsOf("am/core/executors/programs.ts", core, [
    {
      bug: "a program that we stopped and that exits 0 has succeeded",
      from: "const succeeded = endedItself && exit.exitCode",
      to: "const succeeded = exit.exitCode",
    },
    {
      bug: "a stale exit is believed",
      from: "task?.containerId === event.containerId && task.generation === event.generation ? task",
      to: "task?.containerId === event.containerId ? task",
    },
    {
      bug: "an exit is not acknowledged",
      from: "  const container = step.state.containers[event.containerId];\n  acknowledge(step, event);",
      to: "  const container = step.state.containers[event.containerId];",
    },
    {
      bug: "a hanging program is stopped, and the job restarts for nothing",
      from: 'const stoppedForCause = stop?.code === "ran-too-long" || stop?.code === "hung";',
      to: 'const stoppedForCause = stop?.code === "ran-too-long";',
    },
  ]),
  ...mutantsOf("am/core/executors/overdue.ts", core, [
    {
      bug: "a program pays for the time in which its node was cut off",
      from: "if (!isHeard(container)) {",
      to: "if (false) {",
    },
    {
      bug: "an executor that does not come back to a new attempt is waited for for ever",
      from: 'what === "rejoin" && container.link === "rejoining"',
      to: "false",
    },
  ]),
  ...mutantsOf("am/core/executors/silence.ts", core, [
    {
      bug: "an executor whose stream broke is not stopped at its node",
      from: 'beginTermination(step, container, "its stream broke", true);',
      to: 'beginTermination(step, container, "its stream broke", false);',
    },
    {
      bug: "streams that break together get no more time than one alone",
      from: "const endsAtMs = areManyUnheard(step)\n",
      to: "const endsAtMs = false\n",
    },
    {
      bug: "executors that fall silent together are lost as quickly as one alone",
      from: "const patienceMs = areManyUnheard(step) ?",
      to: "const patienceMs = false ?",
    },
    {
      bug: "an executor that stays silent when the others are back has their minute",
      from: "Math.min(leftMs, LOOK_AGAIN_MS - (step.nowMs % LOOK_AGAIN_MS))",
      to: "leftMs",
    },
  ]),
  ...mutantsOf("am/core/state/bounds.ts", core, [
    {
      bug: "executors have a third of the time to find a new attempt",
      from: "rejoinMs: 45_000",
      to: "rejoinMs: 15_000",
    },
  ]),
  ...mutantsOf("am/core/state/deadlines.ts", core, [
    {
      bug: "a wake-up that comes late blames those it waited for",
      from: "return sinceMs < pause.endedAtMs ? Math.max(dueMs, pause.endedAtMs + pause.graceMs) : dueMs;",
      to: "return dueMs;",
    },
    {
      bug: "a partial picture of an earlier attempt is judged at once",
      from: "graceMs: Bounds.rejoinMs + step.spec.timeouts.verdictMs",
      to: "graceMs: 0",
    },
    {
      bug: "a container's deadline is forgotten where another one's is sooner over",
      from: "wakeUp.containersMs === 0 ? dueMs : Math.min(wakeUp.containersMs, dueMs)",
      to: "wakeUp.containersMs === 0 ? dueMs : wakeUp.containersMs",
    },
  ]),
  ...mutantsOf("am/core/wake-up.ts", core, [
    {
      bug: "a pause of our own is not noticed by a late wake-up",
      from: "step.nowMs - state.wakeUp.atMs >= OVERSLEPT_MS",
      to: "false",
    },
    {
      bug: "a wake-up is not asked for again when something is due sooner",
      from: "(asked.atMs === 0 || nextMs < asked.atMs)",
      to: "asked.atMs === 0",
    },
  ]),
  ...mutantsOf("am/core/journal/barrier.ts", core, [
    {
      bug: "what is decided happens before the journal holds it",
      from: "sequence: sequence ?? nextSequence(state)",
      to: "sequence: 0",
    },
    {
      bug: "what waits for a snapshot under way counts as in it",
      from: "return journal.sequence + 1;",
      to: "return journal.sequence;",
    },
  ]),
  ...mutantsOf("am/core/executors/liveness.ts", core, [
    {
      bug: "an attempt that is paused as it takes over loses whom it had heard",
      from: "lastTickMs ??= nowMs;",
      to: "",
    },
    {
      bug: "after a pause of our own everybody is silent",
      from: "executor.lastMs = Math.min(executor.lastMs + gapMs, nowMs);",
      to: "",
    },
    {
      bug: "an executor that was heard as a pause of our own ended has the length of the pause more than the others",
      from: "Math.min(executor.lastMs + gapMs, nowMs)",
      to: "executor.lastMs + gapMs",
    },
  ]),
  ...mutantsOf("am/core/failures/losses.ts", core, [
    {
      bug: "YARN's word on a container that was given up is dropped",
      from: "} else if (ending !== undefined && !byUs && !lateEvidence(step, ending)) {",
      to: "} else if (ending !== undefined && !byUs) {",
    },
    {
      bug: "a container that we released counts as a lost node",
      from: "const byUs = released || stopped;",
      to: "const byUs = false;",
    },
    {
      bug: "containers that are lost before the start are replaced for ever",
      from: "  blame(step, ending);\n  if (ending.class",
      to: "  if (ending.class",
    },
  ]),
  ...mutantsOf("am/core/failures/container-endings.ts", core, [
    {
      bug: "a container that an earlier attempt ended is charged to its machine",
      from: "return exitStatus === ORDERED || isGivenUp(exitStatus, words);",
      to: "return false;",
    },
    {
      bug: "preemption blames the machine",
      from: '"-102": { class: "infrastructure", machine: false',
      to: '"-102": { class: "infrastructure", machine: true',
    },
    {
      bug: "preemption spends the program's budget",
      from: '"-102": { class: "infrastructure"',
      to: '"-102": { class: "program"',
    },
    {
      bug: "a container that is killed for its memory is the infrastructure's fault",
      from: '"-104": { class: "program"',
      to: '"-104": { class: "infrastructure"',
    },
    {
      bug: "a container that was not started in time blames its node",
      from: "/expired/i.test(line)",
      to: "false && line",
    },
    {
      bug: "a container that was killed from outside (143) is no known end",
      from: "exitStatus === 137 || exitStatus === 143",
      to: "exitStatus === 137",
    },
  ]),
  ...mutantsOf("am/core/executors/departures.ts", core, [
    {
      bug: "a program that starts on a leaving node later is not told",
      from: 'if (leaving === undefined || task.phase !== "running") {',
      to: "if (true) {",
    },
    {
      bug: "a task does not leave before its node goes",
      from: "  depart(step, container, task, 0);",
      to: "",
    },
    {
      bug: "a task does not leave when a checkpoint is complete",
      from: "      depart(step, container, task, gang.checkpoint?.step ?? 0);",
      to: "",
    },
    {
      bug: "a task that is never restarted is stopped because its node leaves",
      from: "return !isNeverRestarted(step, task) && ",
      to: "return ",
    },
    {
      bug: "a node that stays is kept off for ever",
      from: "      delete step.state.leaving[host];",
      to: "",
    },
    {
      bug: "excluded nodes stay excluded when too few others are left",
      from: "  reconsiderExclusions(step);",
      to: "",
    },
  ]),
  ...mutantsOf("am/core/failures/endings.ts", core, [
    {
      bug: "a program that ends at YARN's notice is at fault itself",
      from: "(notice !== undefined && step.nowMs - notice.atMs <= Bounds.preemptionMs)",
      to: "false",
    },
    {
      bug: "a peer's lost connection is as good a cause as any exit",
      from: "exit.peerConnectionLost ? Strength.peerLost : Strength.exit",
      to: "Strength.exit",
    },
  ]),
  ...mutantsOf("am/core/failures/endings.ts", core, [
    {
      bug: "another machine's clock decides which of two exits came first",
      from: "Math.min(step.nowMs, Math.max(step.nowMs - Bounds.reconnectMs, atMs))",
      to: "atMs",
    },
  ]),
  ...mutantsOf("am/core/journal/journal.ts", core, [
    {
      bug: "an acknowledgement credits a newer snapshot than was written",
      from: "  journal.durableSequence = sequence;",
      to: "  journal.durableSequence = sequence + 1;",
    },
    {
      bug: "an acknowledgement of an earlier write counts",
      from: "export function journalWritten(step: Step, sequence: number): void {\n  const { journal } = step.state;\n  if (sequence !== journal.inFlight) {\n    return;\n  }",
      to: "export function journalWritten(step: Step, sequence: number): void {\n  const { journal } = step.state;",
    },
    {
      bug: "what waits for the journal waits for the pause between two writes",
      from: '(journal.failure !== "" || !isAwaited(state))',
      to: "true",
    },
    {
      bug: "a snapshot is written after the one with the outcome",
      from: " && !isOutcomeDurable(state)",
      to: "",
    },
  ]),
  ...mutantsOf("am/core/job/finish.ts", core, [
    {
      bug: "a staging folder from which another attempt may be starting is removed",
      from: "cleanStaging: isPutDown",
      to: "cleanStaging: true",
    },
  ]),
  ...mutantsOf("am/core/gang/rest.ts", core, [
    {
      bug: "a gang starts although one of it is missing",
      from: "lacking(step, position, role) <= 0);",
      to: "lacking(step, position, role) <= 1);",
    },
    {
      bug: "an elastic gang starts though the first of it, where the others meet, is missing",
      from: "minInstances !== undefined && canMeet(step, position) && isQuiet(step, gang, position)",
      to: "minInstances !== undefined && isQuiet(step, gang, position)",
    },
    {
      bug: "a task joins others that are done",
      from: '  if (gang.phase !== "running" || !isElastic(step, ended) || !isShareDone(step, ended)) {',
      to: "  if (gang.generation > 0) {",
    },
  ]),
  ...mutantsOf("am/core/gang/generation.ts", core, [
    {
      bug: "executors make ready for a generation that the journal does not know",
      from: "step.state.journal.generationSequence);",
      to: "0);",
    },
  ]),
  ...mutantsOf("am/core/gang/charges.ts", core, [
    {
      bug: "a failure of the infrastructure counts for ever",
      from: "used: ofClass.filter(({ atMs }) => nowMs - atMs < windowMs).length",
      to: "used: ofClass.length",
    },
  ]),
  ...mutantsOf("am/core/gang/stages.ts", core, [
    {
      bug: "a stage begins before the journal knows that the one before is done",
      from: '  return waiting(step, { what: "stage-done", gang: position }) === undefined;',
      to: "  return position >= 0;",
    },
    {
      bug: "what was to restart with its stage as that became done never starts",
      from: "      intendStart(step, task);\n",
      to: "",
    },
    {
      bug: "a stage begins before all that it waits for is done",
      from: "awaitedBy(step, gang).length === 0",
      to: "awaitedBy(step, gang).length < stage.after.length",
    },
    {
      bug: "what may run on after the chief runs on after its stage",
      from: '      stopChild(step, task, { code: "generation-ended", why: STAGE_DONE });\n',
      to: "",
    },
    {
      bug: "a container whose executor still uploads is given to another task",
      from: "return step.spec.carrier === undefined && isHeard(container)",
      to: "return isHeard(container)",
    },
    {
      bug: "a container is given to a task that asked for another size",
      from: "isWanting(step, role) && allocationOf(step, { role }) === given",
      to: "isWanting(step, role) && given !== undefined",
    },
    {
      bug: "a container is given to a task that asked for other files",
      from: "    image ?? {},\n    files,\n",
      to: "    image ?? {},\n",
    },
    {
      bug: "a container is given to a task whose places are constrained otherwise",
      from: "    constrained ?? {},\n",
      to: "",
    },
    {
      bug: "a container is given to a task of another image",
      from: "    image ?? {},\n",
      to: "",
    },
    {
      bug: "a container is given to a task that asked for a node of another label",
      from: '    nodeLabel ?? "",\n',
      to: "",
    },
    {
      bug: "a container on an excluded host is given to another task",
      from: " && !isKeptOff(step, container.host)",
      to: "",
    },
    {
      bug: "a container whose executor is silent is given to another task",
      from: "spec.carrier === undefined && isHeard(container) && ",
      to: 'spec.carrier === undefined && container.link === "up" && ',
    },
    {
      bug: "a container whose executor's connection is broken is given to another task",
      from: "spec.carrier === undefined && isHeard(container) && ",
      to: "spec.carrier === undefined && !container.silent && ",
    },
    {
      bug: "an executor of a stage that is done is told to end again and again, and never overdue",
      from: "  } else if (container.deadlines.leave === undefined) {\n",
      to: "  } else {\n",
    },
  ]),
  ...mutantsOf("am/core/containers/containers.ts", { unit: "am/core/gang/stages" }, [
    {
      bug: "the executor of the task before is not told to make room",
      from: '"container-handed-over");\n  relaunch(step, container, task);\n',
      to: '"container-handed-over");\n',
    },
    {
      bug: "where the log of a task that made room is, is forgotten",
      from: "    if (AFTER_END.includes(tenant.phase)) {\n      tenant.lastContainer",
      to: "    if (false) {\n      tenant.lastContainer",
    },
    {
      bug: "a later attempt calls the executor that made room for the one that comes",
      from: '  container.rejoinAddress = "";\n',
      to: "",
    },
    {
      bug: "an attempt that recovers does not know that a container was handed over",
      from: "  container.handedOver = true;\n",
      to: "",
    },
  ]),
  ...mutantsOf("am/core/gang/restart.ts", core, [
    {
      bug: "the pause before a restart has no longest",
      from: "Math.min(maxMs, initialMs",
      to: "Math.max(0, initialMs",
    },
    { bug: "the first restart waits", from: "charged < 2 ? 0 : ", to: "" },
    {
      bug: "after a takeover an executor that was not heard yet has no time to come back when the gang restarts",
      from: "rejoinLeftMs(step) + stopWithinMs(",
      to: "stopWithinMs(",
    },
    {
      bug: "a restart gives the containers back",
      from: '    if (restartsWithGang(step, task)) {\n      stopChild(step, task, { code: "generation-ended", why: reason });\n    }',
      to: "    if (restartsWithGang(step, task)) {\n      stopChild(step, task, { code: 'generation-ended', why: reason });\n      emit(step, { type: 'release', containerIds: [task.containerId], reason });\n    }",
    },
    {
      bug: "the next generation gathers while programs of the last one run",
      from: " && !anyStopping(step, gang)",
      to: "",
      caughtBy: { simulation: 30 },
    },
  ]),
  ...mutantsOf("am/core/job/recovery.ts", core, [
    {
      bug: "what is awaited takes hours more because the next machine's clock is behind",
      from: "Math.max(0, writtenAtMs + 1 - step.nowMs)",
      to: "0",
    },
    {
      bug: "a budget is whole again for each attempt",
      from: "  Object.assign(state, durable, own);\n",
      to: "  Object.assign(state, durable, own);\n  for (const { charges } of state.gangs) charges.splice(0);\n",
    },
    {
      bug: "containers that the journal had given up are left running",
      from: '      emit(step, { type: "stop-container", containerId: container.id, reason: container.discardReason });',
      to: "",
    },
    {
      bug: "without a journal the containers of the earlier attempt are kept",
      from: 'giveBack(step, kept, "it belongs to an attempt that left no journal");',
      to: "",
    },
    {
      bug: "a container of which YARN tells late is given back though its executor may come",
      from: "    keep(step, unknown);",
      to: "",
    },
  ]),
];
