import type { StoreAnswer } from "../job/store/transaction.ts";
import { ApiError } from "./errors.ts";
import { Gathered } from "./gathered.ts";
import type { TaskAnswer, TaskAnswers, TaskTransaction, TaskTransactions } from "./messages.ts";

/** A gRPC stream, as far as it is used here. */
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

/** A task's transactions with the job's store: one stream has them all, which the first one opens. */
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

  /** Rejects with an ApiError: `API_FAILED` where nothing was done; else nobody can say. */
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
    // The others were told meanwhile that there is no answer.
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
    // What became of the stream is no answer to a transaction.
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
