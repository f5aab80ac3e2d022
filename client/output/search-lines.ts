import { parameterWords } from "../../src/job/search/parse-parameter.ts";
import type { Search } from "../../src/job/search/trials.ts";
import { formatTable } from "./format.ts";

/** The space, one line per parameter. */
export function spaceLines({ space }: Search): string[] {
  return formatTable(space.map((parameter) => [`  ${parameter.name}`, parameterWords(parameter)]));
}
