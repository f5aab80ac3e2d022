import type { ServerDuplexStream } from "@grpc/grpc-js";
import { errorMessage } from "../hadoop/errors.ts";
import type { StoreAnswer } from "../job/store/transaction.ts";
import { ApiError } from "./errors.ts";
import type { TaskAnswer, TaskAnswers, TaskTransaction, TaskTransactions } from "./messages.ts";

/** How many are sent in one message. */
export const MOST_TOGETHER = 32;
/** Measured by `bytesOf`, which counts a third of what some texts take: no message with several transactions exceeds MOST_REQUEST_BYTES. */
const MOST_BYTES_TOGETHER = 64 << 10;

/** Sends the items of one turn of the event loop together, in their order: a message costs many times what its content does. */
export class Gathered<Item> {
  readonly #send: (together: readonly Item[]) => void;
  #together: Item[] = [];
  #bytes = 0;

  constructor(send: (together: readonly Item[]) => void) {
    this.#send = send;
  }

  add(item: Item): void {
    const bytes = bytesOf(item);
    if (this.#together.length === MOST_TOGETHER || this.#bytes + bytes > MOST_BYTES_TOGETHER) this.#flush();
    if (this.#together.length === 0) setImmediate(() => this.#flush());
    this.#together.push(item);
    this.#bytes += bytes;
  }

  #flush(): void {
    const together = this.#together;
    if (together.length === 0) return;
    this.#together = [];
    this.#bytes = 0;
    this.#send(together);
  }
}

/** The approximate size of plain data in a message. */
function bytesOf(data: unknown): number {
  if (typeof data === "string") return data.length + 4;
  if (typeof data !== "object" || data === null) return 10;
  return Object.values(data).reduce<number>((bytes, part) => bytes + bytesOf(part), 4);
}

/** The part of a gRPC stream that is used here. */
interface Stream {
  write(message: TaskTransactions): unknown;
  cancel(): void;
  on(event: "data", listener: (answers: TaskAnswers) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
}

interface Asked {
  readonly resolve: (answer: StoreAnswer) => void;
  readonly reject: (error: ApiError) => void;
  readonly late: NodeJS.Timeout;
}

/** A task's transactions with the job's store: they share one stream, which the first one opens. */
export class Transactions {
  readonly #open: () => Stream;
  readonly #toError: (error: unknown) => ApiError;
  readonly #asked = new Map<number, Asked>();
  readonly #wanted = new Gathered<TaskTransaction>((together) => this.#send(together));
  #stream: Stream | undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(open: () => Stream, toError: (error: unknown) => ApiError) {
    this.#open = open;
    this.#toError = toError;
  }

  /** Rejects with an ApiError: `API_FAILED` if nothing was done; with any other code the outcome is unknown. */
  transact(wanted: Omit<TaskTransaction, "id">, timeoutMs: number): Promise<StoreAnswer> {
    const id = (this.#lastId % 0xffff_ffff) + 1;
    this.#lastId = id;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#asked.delete(id);
        reject(new ApiError(`no answer in ${timeoutMs / 1_000} s`, { code: "API_TIMEOUT", retryable: true }));
      }, timeoutMs);
      this.#asked.set(id, { resolve, reject, late });
      this.#wanted.add({ id, ...wanted });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#stream?.cancel();
  }

  #send(together: readonly TaskTransaction[]): void {
    if (this.#isClosed) {
      this.#lost(new ApiError("the stream was closed", { code: "API_CANCELLED" }));
      return;
    }
    // The others have meanwhile been rejected without an answer.
    const wanted = together.filter(({ id }) => this.#asked.has(id));
    if (wanted.length === 0) return;
    this.#stream ??= this.#opened();
    this.#stream.write({ together: wanted });
  }

  #opened(): Stream {
    const stream = this.#open();
    stream.on("data", ({ together }: TaskAnswers) => {
      for (const answer of together) this.#heard(answer);
    });
    stream.on("error", (error) => this.#lost(this.#toError(error)));
    stream.on("end", () => this.#lost(new ApiError("the stream ended", { code: "API_FAILED" })));
    return stream;
  }

  #heard({ id, answer, failure = "there is no answer" }: TaskAnswer): void {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    this.#asked.delete(id);
    clearTimeout(asked.late);
    if (answer === undefined) asked.reject(new ApiError(failure, { code: "API_FAILED" }));
    else asked.resolve(answer);
  }

  #lost(cause: ApiError): void {
    this.#stream = undefined;
    const { code, message } = cause;
    // The error of the stream does not answer a transaction.
    const error =
      code === "API_FAILED" ? new ApiError(message, { code: "API_UNREACHABLE", cause, retryable: true }) : cause;
    const asked = [...this.#asked.values()];
    this.#asked.clear();
    for (const { late, reject } of asked) {
      clearTimeout(late);
      reject(error);
    }
  }
}

export type TransactionStream = ServerDuplexStream<TaskTransactions, TaskAnswers>;

/** As many as the calls that a program may have open at its executor (MOST_API_CONNECTIONS). */
const MOST_UNDER_WAY = 64;

/**
 * Answers the transactions of a stream, each as soon as it is done. While many are in progress, or their answers are not read, no further
 * message is read. @param transact rejects if there is no answer at present
 */
export function serveTransactions(
  stream: TransactionStream,
  transact: (wanted: TaskTransaction) => Promise<StoreAnswer>,
): void {
  let underWay = 0;
  const send = async (together: readonly TaskAnswer[]) => {
    if (!stream.write({ together })) await new Promise((resolve) => stream.once("drain", resolve));
    underWay -= together.length;
    if (underWay < MOST_UNDER_WAY) stream.resume();
  };
  const answers = new Gathered<TaskAnswer>((together) => void send(together));
  const answer = async (wanted: TaskTransaction) => answers.add(await answered(wanted, transact));
  stream.on("data", ({ together }: TaskTransactions) => {
    underWay += together.length;
    if (underWay >= MOST_UNDER_WAY) stream.pause();
    if (together.length <= MOST_TOGETHER) for (const wanted of together) void answer(wanted);
    else stream.destroy(new Error(`more than ${MOST_TOGETHER} transactions in a message`));
  });
  stream.on("end", () => stream.end());
  stream.on("error", () => undefined);
}

async function answered(
  wanted: TaskTransaction,
  transact: (wanted: TaskTransaction) => Promise<StoreAnswer>,
): Promise<TaskAnswer> {
  const { id, withoutResults = false } = wanted;
  try {
    const answer = await transact(wanted);
    return { id, answer: withoutResults && !("code" in answer) ? { ...answer, results: [] } : answer };
  } catch (error) {
    return { id, failure: errorMessage(error) };
  }
}
