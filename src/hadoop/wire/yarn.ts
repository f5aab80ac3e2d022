/** Messages of YARN's three protocols, generated from proto/hadoop. Nothing outside src/hadoop sees them. */
import "./long.ts";
import { hadoop } from "./generated/yarn.js";

export const { yarn } = hadoop;
export type { hadoop };
