import type { ServerDuplexStream } from "@grpc/grpc-js";
import { errorMessage } from "../hadoop/errors.ts";
import type { StoreAnswer } from "../job/store/transaction.ts";
import type { TaskAnswer, TaskTransaction } from "./messages.ts";

export type TransactionStream = ServerDuplexStream<TaskTransaction, TaskAnswer>;

/** As many calls as a program may have open at its executor (MOST_API_CONNECTIONS). */
const MOST_UNDER_WAY = 64;

/**
 * Answers the transactions of a stream, each as soon as it is done. While many are under way, or their answers are not read, no further one
 * is read. @param transact rejects where there is no answer at present
 */
export function serveTransactions(
  stream: TransactionStream,
  transact: (wanted: TaskTransaction) => Promise<StoreAnswer>,
): void {
  let underWay = 0;
  const answer = async (wanted: TaskTransaction) => {
    underWay += 1;
    if (underWay >= MOST_UNDER_WAY) stream.pause();
    if (!stream.write(await answered(wanted, transact))) await new Promise((resolve) => stream.once("drain", resolve));
    underWay -= 1;
    stream.resume();
  };
  stream.on("data", (wanted: TaskTransaction) => void answer(wanted));
  stream.on("end", () => stream.end());
  stream.on("error", () => undefined);
}

async function answered(
  wanted: TaskTransaction,
  transact: (wanted: TaskTransaction) => Promise<StoreAnswer>,
): Promise<TaskAnswer> {
  const { id } = wanted;
  try {
    return { id, answer: await transact(wanted) };
  } catch (error) {
    return { id, failure: errorMessage(error) };
  }
}
