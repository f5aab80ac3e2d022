import type { ServerDuplexStream } from "@grpc/grpc-js";
import { errorMessage } from "../hadoop/errors.ts";
import type { StoreAnswer } from "../job/store/transaction.ts";
import { Gathered, MOST_TOGETHER } from "./gathered.ts";
import type { TaskAnswer, TaskAnswers, TaskTransaction, TaskTransactions } from "./messages.ts";

export type TransactionStream = ServerDuplexStream<TaskTransactions, TaskAnswers>;

/** As many calls as a program may have open at its executor (MOST_API_CONNECTIONS). */
const MOST_UNDER_WAY = 64;

/**
 * Answers the transactions of a stream, each as soon as it is done. While many are under way, or their answers are not read, no further
 * message is read. @param transact rejects where there is no answer at present
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
