import type { ChildProgress, ChildReport } from "../job/execution.ts";
import { readStopReason, type StopReason } from "../job/reasons/stops.ts";
import type {
  Comparison,
  Condition,
  Entry,
  Operation,
  RefusalCode,
  Result,
  StoreAnswer,
} from "../job/store/transaction.ts";
import type { Change, Watched } from "../job/store/watched.ts";
import { shortened } from "./believable.ts";
import { convertedMessage, type Kind, type Message } from "./fields.ts";
import type {
  WireChild,
  WireChildProgress,
  WireSessionOutput,
  WireStopReason,
  WireStoreAnswer,
  WireStoreChange,
  WireStoreCondition,
  WireStoreEntry,
  WireStoreOperation,
  WireStoreResult,
  WireStoreWatched,
} from "./generated/types.ts";
import type { SessionOutput } from "./session-messages.ts";

/** Messages of proto/tony that programs use in another form. */

type Form<T> = Kind<T> & Message<T>;

const noFacts = { noProgressMs: 0, step: 0, limitMs: 0, silentMs: 0 };

/** The facts have the same names on the wire. An unrecognised code becomes `unknown`: there was some reason to stop. */
export const stopReasonOf = (form: Form<WireStopReason>) =>
  convertedMessage<StopReason, WireStopReason>(form, {
    toWire: (reason) => reason,
    fromWire({ why = "", error = "", ...wire }) {
      return readStopReason({ ...noFacts, ...wire, why: shortened(why), error: shortened(error) }, "");
    },
  });

export const childOf = (form: Form<WireChild>) =>
  convertedMessage<ChildReport, WireChild>(form, {
    toWire(child) {
      if (child.state === "none") return child;
      const { suspendedMs } = child;
      const suspended = suspendedMs === undefined ? {} : { suspendedMs };
      return child.state === "running"
        ? { state: "running", started: { pid: child.pid, atMs: child.startedAtMs }, ...suspended }
        : { state: "exited", exited: child.exit, ...suspended };
    },
    fromWire({ state, started, exited, suspendedMs = 0 }) {
      const suspended = suspendedMs > 0 ? { suspendedMs } : {};
      if (state === "running" && started) return { state, pid: started.pid, startedAtMs: started.atMs, ...suspended };
      return state === "exited" && exited ? { state, exit: exited, ...suspended } : { state: "none" };
    },
  });

export const childProgressOf = (form: Form<WireChildProgress>) =>
  convertedMessage<ChildProgress, WireChildProgress>(form, {
    toWire: ({ checkpoint, ...progress }) => ({
      ...progress,
      ...(checkpoint && {
        checkpoint: checkpoint.path,
        checkpointStep: checkpoint.step,
        checkpointAtMs: checkpoint.atMs,
      }),
    }),
    fromWire: ({ checkpoint: path = "", checkpointStep: step = 0, checkpointAtMs: atMs = 0, ...progress }) =>
      path === "" ? progress : { ...progress, checkpoint: { path, step, atMs } },
  });

export const sessionOutputOf = (form: Form<WireSessionOutput>) =>
  convertedMessage<SessionOutput, WireSessionOutput>(form, {
    toWire(output) {
      if (output.type === "data")
        return output.stream === "stdout"
          ? { type: "stdout", stdout: output.data }
          : { type: "stderr", stderr: output.data };
      if (output.type !== "failed") return output;
      return output.noSuchTask === true
        ? { type: "no-such-task", noSuchTask: output.reason }
        : { type: "failed", failed: output.reason };
    },
    fromWire(wire) {
      if (wire.type === "stdout") return { type: "data", stream: "stdout", data: wire.stdout };
      if (wire.type === "stderr") return { type: "data", stream: "stderr", data: wire.stderr };
      if (wire.type === "failed") return { type: "failed", reason: wire.failed };
      return wire.type === "no-such-task" ? { type: "failed", reason: wire.noSuchTask, noSuchTask: true } : wire;
    },
  });

const comparisons: readonly Comparison[] = ["=", "≠", "<", "≤", ">", "≥"];
const equalities = ["=", "≠"] as const;

export const storeConditionOf = (form: Form<WireStoreCondition>) =>
  convertedMessage<Condition, WireStoreCondition>(form, {
    toWire(given) {
      const wire = { of: given.of, key: given.key, is: "", value: "", owner: "", number: 0 };
      if (!("is" in given)) return wire;
      if (given.of === "value") return { ...wire, is: given.is, value: given.to };
      return given.of === "owner"
        ? { ...wire, is: given.is, owner: given.to }
        : { ...wire, is: given.is, number: given.to };
    },
    fromWire({ of, key, is, value, owner, number }): Condition {
      switch (of) {
        case "exists":
        case "missing":
          return { of, key };
        case "value":
          return { of, key, is: oneOf(comparisons, is), to: value };
        case "owner":
          return { of, key, is: oneOf(equalities, is), to: owner };
        case "created":
        case "modified":
        case "version":
          return { of, key, is: oneOf(comparisons, is), to: number };
        default:
          throw new RangeError(`${of} is not a condition`);
      }
    },
  });

export const storeOperationOf = (form: Form<WireStoreOperation>) =>
  convertedMessage<Operation, WireStoreOperation>(form, {
    toWire(given) {
      const { type } = given;
      // The most common kind.
      if (type === "put")
        return { type, key: given.key, value: given.value, owned: given.owned ?? false, limit: 0, keysOnly: false };
      return { ...{ key: "", value: "", owned: false, limit: 0, keysOnly: false }, ...given };
    },
    fromWire({ type, key, value, owned, range = { from: "" }, limit, keysOnly }) {
      switch (type) {
        case "get":
          return { type, key };
        case "put":
          return { type, key, value, owned };
        case "list":
          return { type, range, keysOnly, ...(limit === 0 ? {} : { limit }) };
        case "delete":
          return { type, range };
        default:
          throw new RangeError(`${type} is not an operation`);
      }
    },
  });

export const storeEntryOf = (form: Form<WireStoreEntry>) =>
  convertedMessage<Entry, WireStoreEntry>(form, {
    toWire: ({ owner, ...given }) => ({ ...given, owner: owner?.task ?? "", generation: owner?.generation ?? 0 }),
    fromWire: ({ owner: task, generation, ...given }) =>
      task === "" ? given : { ...given, owner: { task, generation } },
  });

export const storeResultOf = (form: Form<WireStoreResult>) =>
  convertedMessage<Result, WireStoreResult>(form, {
    toWire(given) {
      const { type } = given;
      const nothing = { type, entries: [], more: false, deleted: 0 };
      if (type === "list") return { ...nothing, ...given };
      if (type === "delete") return { ...nothing, deleted: given.deleted };
      const found = type === "get" ? given.entry : given.before;
      return { ...nothing, entries: found === undefined ? [] : [found] };
    },
    fromWire({ type, entries, more, deleted }) {
      const [first] = entries;
      switch (type) {
        case "get":
          return { type, ...(first === undefined ? {} : { entry: first }) };
        case "put":
          return { type, ...(first === undefined ? {} : { before: first }) };
        case "list":
          return { type, entries, more };
        case "delete":
          return { type, deleted };
        default:
          throw new RangeError(`${type} is not a result`);
      }
    },
  });

const refusalCodes: readonly RefusalCode[] = ["invalid", "limit", "forbidden", "no-owner"];

export const storeAnswerOf = (form: Form<WireStoreAnswer>) =>
  convertedMessage<StoreAnswer, WireStoreAnswer>(form, {
    toWire: (answer) =>
      "code" in answer
        ? { revision: 0, succeeded: false, results: [], refusal: answer.message, refusalCode: answer.code }
        : { ...answer, refusalCode: "" },
    fromWire({ revision, succeeded, results, refusal, refusalCode }) {
      if (refusal === undefined) return { revision, succeeded, results };
      return { code: oneOf(refusalCodes, refusalCode), message: refusal };
    },
  });

export const storeChangeOf = (form: Form<WireStoreChange>) =>
  convertedMessage<Change, WireStoreChange>(form, {
    toWire: (change) => change,
    fromWire: ({ revision, key, entry }) =>
      entry === undefined ? { type: "delete", revision, key } : { type: "put", revision, key, entry },
  });

export const storeWatchedOf = (form: Form<WireStoreWatched>) =>
  convertedMessage<Watched, WireStoreWatched>(form, {
    toWire: (news) => ({ changes: [], ...news }),
    fromWire({ type, attempt, revision, changes }) {
      const known = oneOf(["changes", "compacted", "reset"], type);
      return known === "changes" ? { type: known, attempt, revision, changes } : { type: known, attempt, revision };
    },
  });

function oneOf<T extends string>(words: readonly T[], given: string): T {
  const found = words.find((each) => each === given);
  if (found === undefined) throw new RangeError(`${given} is not one of ${words.join(", ")}`);
  return found;
}
