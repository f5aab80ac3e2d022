import type { Framework } from "../job/spec.ts";
import type { FrameworkEnvironment } from "./framework.ts";
import { pytorch } from "./pytorch.ts";
import { standalone } from "./standalone.ts";
import { tensorflow } from "./tensorflow.ts";

/** Those that work; TonY's others are in the table of keys and refused when a job is checked. */
export const frameworks: { readonly [F in Framework]?: FrameworkEnvironment<string> } = {
  pytorch,
  standalone,
  tensorflow,
};
