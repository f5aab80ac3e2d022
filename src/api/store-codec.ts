import type {
  Comparison,
  Condition,
  Entry,
  Operation,
  Range,
  RefusalCode,
  Result,
  StoreAnswer,
  Transaction,
} from "../job/store/transaction.ts";
import type { Change, Watched } from "../job/store/watched.ts";
import { converted, convertedMessage, flag, type Kind, many, maybe, message, one, text, whole } from "./fields.ts";

/** Bytes, each as a character, as the store keeps them. */
const bytes: Kind<string> = {
  wireType: 2,
  empty: () => "",
  write: (writer, value) => void writer.bytes(Buffer.from(value, "latin1")),
  read: (reader) => Buffer.from(reader.bytes()).toString("latin1"),
};

interface WireCondition {
  readonly of: string;
  readonly key: string;
  readonly is: string;
  readonly value: string;
  readonly owner: string;
  readonly number: number;
}

const wireCondition = message<WireCondition>({
  of: one(1, text),
  key: one(2, text),
  is: one(3, text),
  value: one(4, bytes),
  owner: one(5, text),
  number: one(6, whole),
});

const condition = converted<Condition, WireCondition>(
  wireCondition,
  { toWire: conditionToWire, fromWire: conditionFromWire },
  { of: "exists", key: "" },
);

const comparisons: readonly Comparison[] = ["=", "≠", "<", "≤", ">", "≥"];
const equalities = ["=", "≠"] as const;

function conditionToWire(given: Condition): WireCondition {
  const wire = { of: given.of, key: given.key, is: "", value: "", owner: "", number: 0 };
  if (!("is" in given)) return wire;
  if (given.of === "value") return { ...wire, is: given.is, value: given.to };
  return given.of === "owner"
    ? { ...wire, is: given.is, owner: given.to }
    : { ...wire, is: given.is, number: given.to };
}

function conditionFromWire({ of, key, is, value, owner, number }: WireCondition): Condition {
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
      throw new RangeError(`${of} is no condition`);
  }
}

const wireRange = message<{ readonly from: string; readonly to: string }>({ from: one(1, text), to: one(2, text) });
const range = converted<Range, { readonly from: string; readonly to: string }>(wireRange, {
  toWire: ({ from, to = "" }) => ({ from, to }),
  fromWire: ({ from, to }) => ({ from, ...(to === "" ? {} : { to }) }),
});

interface WireOperation {
  readonly type: string;
  readonly key: string;
  readonly value: string;
  readonly owned: boolean;
  readonly range: Range;
  readonly limit: number;
  readonly keysOnly: boolean;
}

const operation = converted<Operation, WireOperation>(
  message<WireOperation>({
    type: one(1, text),
    key: one(2, text),
    value: one(3, bytes),
    owned: one(4, flag),
    range: one(5, range),
    limit: one(6, whole),
    keysOnly: one(7, flag),
  }),
  { toWire: operationToWire, fromWire: operationFromWire },
  { type: "get", key: "" },
);

function operationToWire(given: Operation): WireOperation {
  const nothing = { key: "", value: "", owned: false, range: { from: "" }, limit: 0, keysOnly: false };
  return { ...nothing, ...given };
}

function operationFromWire({ type, key, value, owned, range, limit, keysOnly }: WireOperation): Operation {
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
      throw new RangeError(`${type} is no operation`);
  }
}

/** See src/job/store/transaction.ts. */
export const storeTransaction = message<Transaction>({
  conditions: many(1, condition),
  success: many(2, operation),
  failure: many(3, operation),
});

interface WireEntry {
  readonly key: string;
  readonly value: string;
  readonly created: number;
  readonly modified: number;
  readonly version: number;
  readonly owner: string;
  readonly generation: number;
}

const entry = converted<Entry, WireEntry>(
  message<WireEntry>({
    key: one(1, text),
    value: one(2, bytes),
    created: one(3, whole),
    modified: one(4, whole),
    version: one(5, whole),
    owner: one(6, text),
    generation: one(7, whole),
  }),
  {
    toWire: ({ owner, ...given }) => ({ ...given, owner: owner?.task ?? "", generation: owner?.generation ?? 0 }),
    fromWire: ({ owner: task, generation, ...given }) =>
      task === "" ? given : { ...given, owner: { task, generation } },
  },
);

interface WireResult {
  readonly type: string;
  readonly entries: readonly Entry[];
  readonly more: boolean;
  readonly deleted: number;
}

const result = converted<Result, WireResult>(
  message<WireResult>({ type: one(1, text), entries: many(2, entry), more: one(3, flag), deleted: one(4, whole) }),
  { toWire: resultToWire, fromWire: resultFromWire },
  { type: "get" },
);

function resultToWire(given: Result): WireResult {
  const { type } = given;
  const nothing = { type, entries: [], more: false, deleted: 0 };
  if (type === "list") return { ...nothing, ...given };
  if (type === "delete") return { ...nothing, deleted: given.deleted };
  const found = type === "get" ? given.entry : given.before;
  return { ...nothing, entries: found === undefined ? [] : [found] };
}

function resultFromWire({ type, entries, more, deleted }: WireResult): Result {
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
      throw new RangeError(`${type} is no result`);
  }
}

interface WireAnswer {
  readonly revision: number;
  readonly succeeded: boolean;
  readonly results: readonly Result[];
  readonly refusal: string | undefined;
  readonly refusalCode: string;
}

const wireAnswer = message<WireAnswer>({
  revision: one(1, whole),
  succeeded: one(2, flag),
  results: many(3, result),
  refusal: maybe(4, text),
  refusalCode: one(5, text),
});

const refusalCodes: readonly RefusalCode[] = ["invalid", "limit", "forbidden", "no-owner"];

/** See src/job/store/transaction.ts. */
export const storeAnswer = convertedMessage<StoreAnswer, WireAnswer>(wireAnswer, {
  toWire(answer) {
    const nothing = { revision: 0, succeeded: false, results: [], refusal: undefined, refusalCode: "" };
    return "code" in answer
      ? { ...nothing, refusal: answer.message, refusalCode: answer.code }
      : { ...nothing, ...answer };
  },
  fromWire({ revision, succeeded, results, refusal, refusalCode }) {
    if (refusal === undefined) return { revision, succeeded, results };
    return { code: oneOf(refusalCodes, refusalCode), message: refusal };
  },
});

interface WireChange {
  readonly revision: number;
  readonly key: string;
  readonly entry: Entry | undefined;
}

const change = converted<Change, WireChange>(
  message<WireChange>({ revision: one(1, whole), key: one(2, text), entry: maybe(3, entry) }),
  {
    toWire: (given) => ({ entry: undefined, ...given }),
    fromWire: ({ revision, key, entry: found }) =>
      found === undefined ? { type: "delete", revision, key } : { type: "put", revision, key, entry: found },
  },
);

interface WireWatched {
  readonly type: string;
  readonly attempt: number;
  readonly revision: number;
  readonly changes: readonly Change[];
}

const wireWatched = message<WireWatched>({
  type: one(1, text),
  attempt: one(2, whole),
  revision: one(3, whole),
  changes: many(4, change),
});

/** See src/job/store/watched.ts. */
export const storeWatched = convertedMessage<Watched, WireWatched>(wireWatched, {
  toWire: (news) => ({ changes: [], ...news }),
  fromWire({ type, attempt, revision, changes }) {
    const known = oneOf(["changes", "compacted", "reset"], type);
    return known === "changes" ? { type: known, attempt, revision, changes } : { type: known, attempt, revision };
  },
});

function oneOf<T extends string>(words: readonly T[], given: string): T {
  const found = words.find((each) => each === given);
  if (found === undefined) throw new RangeError(`${given} is none of ${words.join(", ")}`);
  return found;
}
