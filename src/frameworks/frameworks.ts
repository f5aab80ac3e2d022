import type { Framework } from "../job/spec.ts";
import type { FrameworkEnvironment } from "./framework.ts";
import { pytorch } from "./pytorch.ts";
import { standalone } from "./standalone.ts";
import { tensorflow } from "./tensorflow.ts";

export const frameworks: { readonly [F in Framework]: FrameworkEnvironment<string> } = {
  pytorch,
  standalone,
  tensorflow,
};
