import { attach } from "../commands/attach.ts";
import { cache } from "../commands/cache.ts";
import { completion } from "../commands/completion.ts";
import { doctor } from "../commands/doctor.ts";
import { init } from "../commands/init.ts";
import { keys } from "../commands/keys.ts";
import { kill } from "../commands/kill.ts";
import { list } from "../commands/list.ts";
import { logs } from "../commands/logs.ts";
import { status } from "../commands/status.ts";
import { submit } from "../commands/submit.ts";
import { validate } from "../commands/validate.ts";
import { wait } from "../commands/wait.ts";
import type { Command } from "./command.ts";

/** Every verb, in the order in which the help lists them. */
export const commands: readonly Command[] = [
  submit,
  status,
  list,
  logs,
  attach,
  wait,
  kill,
  init,
  validate,
  keys,
  doctor,
  cache,
  completion,
];
