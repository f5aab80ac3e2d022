import { TonyError } from "../../errors.ts";
import { errorMessage } from "../../hadoop/errors.ts";
import { amount, arrayOf, count, object, type Shape, string } from "../../job/shape.ts";
import { readContainer } from "../avro/read.ts";
import type { TonyEvent, TonyMetric } from "./events.ts";

type Facts<T extends TonyEvent["type"]> = Omit<Extract<TonyEvent, { readonly type: T }>, "type" | "timestamp">;

/** A branch of a union; the shape of the whole union checks its value. */
const readChoice = object<{ readonly branch: number; readonly of?: unknown }>({
  required: { branch: count },
  optional: { of: (value) => value },
});
/** A union with null; null too if that release of TonY did not write the field yet. */
const textOrNull: Shape<string | null> = (value, where) => {
  if (value === undefined) return null;
  const { of } = readChoice(value, where);
  return of === null ? null : string(of, where);
};
const metrics = arrayOf<TonyMetric>(object({ required: { name: string, value: amount }, optional: {} }));
const readEnvelope = object<
  Pick<TonyEvent, "timestamp"> & { readonly type: string; readonly event: { readonly of?: unknown } }
>({
  required: { type: string, event: readChoice, timestamp: count },
  optional: {},
});
const readInited = object<Facts<"APPLICATION_INITED">>({
  required: { applicationId: string, numTasks: count, host: string, containerID: textOrNull },
  optional: {},
});
const readFinished = object<Facts<"APPLICATION_FINISHED">>({
  required: { applicationId: string, finishedTasks: count, failedTasks: count, metrics },
  optional: {},
});
const readTaskStarted = object<Facts<"TASK_STARTED">>({
  required: { taskType: string, taskIndex: count, host: string, containerID: textOrNull },
  optional: {},
});
const readTaskFinished = object<Facts<"TASK_FINISHED">>({
  required: { taskType: string, taskIndex: count, status: string, metrics, containerDiagnostic: textOrNull },
  optional: {},
});

/**
 * The events of a job in a `.jhist` file, written by us or by any release of TonY, finished or not.
 * @throws TonyError `HISTORY_UNREADABLE` if it is not such a file
 */
export function readTonyEvents(file: Uint8Array): TonyEvent[] {
  try {
    return readContainer(file).map((value) => readEvent(value));
  } catch (cause) {
    throw new TonyError(`The .jhist file cannot be read: ${errorMessage(cause)}`, {
      code: "HISTORY_UNREADABLE",
      cause,
    });
  }
}

function readEvent(value: unknown): TonyEvent {
  const { type, event, timestamp } = readEnvelope(value, "event");
  switch (type) {
    case "APPLICATION_INITED":
      return { type, timestamp, ...readInited(event.of, type) };
    case "APPLICATION_FINISHED":
      return { type, timestamp, ...readFinished(event.of, type) };
    case "TASK_STARTED":
      return { type, timestamp, ...readTaskStarted(event.of, type) };
    case "TASK_FINISHED":
      return { type, timestamp, ...readTaskFinished(event.of, type) };
    default:
      throw new RangeError(`an event of the type ${type} is not known`);
  }
}
