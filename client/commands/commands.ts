import type { Command } from "../command-line/command.ts";
import { advise } from "./advise.ts";
import { attach } from "./attach.ts";
import { azkaban } from "./azkaban.ts";
import { cache } from "./cache.ts";
import { completion } from "./completion.ts";
import { doctor } from "./doctor.ts";
import { exec } from "./exec.ts";
import { forward } from "./forward.ts";
import { get } from "./get.ts";
import { init } from "./init.ts";
import { keys } from "./keys.ts";
import { kill } from "./kill.ts";
import { kv } from "./kv.ts";
import { list } from "./list.ts";
import { logs } from "./logs.ts";
import { migrate } from "./migrate.ts";
import { nodes } from "./nodes.ts";
import { notebook } from "./notebook.ts";
import { page } from "./page.ts";
import { portal } from "./portal.ts";
import { search } from "./search.ts";
import { series } from "./series.ts";
import { shell } from "./shell.ts";
import { stacks } from "./stacks.ts";
import { status } from "./status.ts";
import { submit } from "./submit.ts";
import { tensorboard } from "./tensorboard.ts";
import { trials } from "./trials.ts";
import { validate } from "./validate.ts";
import { wait } from "./wait.ts";

/** Every verb, in the order in which the help lists them. */
export const commands: readonly Command[] = [
  submit,
  status,
  list,
  nodes,
  logs,
  attach,
  wait,
  kill,
  get,
  series,
  advise,
  stacks,
  kv,
  exec,
  shell,
  forward,
  tensorboard,
  page,
  portal,
  notebook,
  init,
  validate,
  search,
  trials,
  keys,
  migrate,
  doctor,
  cache,
  azkaban,
  completion,
];
