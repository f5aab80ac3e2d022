import { ROOM_MADE } from "../src/job/launch/launch-command.ts";

/** The executor's own exit codes; YARN shows them as the container's. */
export const ExecutorExit = {
  /** The ApplicationMaster ordered it. */
  ordered: 0,
  /** It could not start, or failed by an error of its own: the message is in `stderr`. */
  failed: 1,
  /** No ApplicationMaster for longer than `tony.task.orphan-timeout`. */
  orphaned: 75,
  /** A process of the program survived SIGKILL: the NodeManager has to end the container. */
  stuck: 76,
  /** Its task runs in another container now: the program was killed, and nothing was uploaded. */
  replaced: 77,
  /** Its container is another task's, whose executor the launch shell starts. */
  roomMade: ROOM_MADE,
  /** SIGTERM, as a shell reports it. */
  terminated: 143,
} as const;
export type ExecutorExit = (typeof ExecutorExit)[keyof typeof ExecutorExit];
