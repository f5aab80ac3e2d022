/** Messages of YARN's three protocols, generated from proto/hadoop. Nothing outside src/hadoop sees them. */
import "./long.ts";
import { hadoop } from "./generated/yarn.js";

export const { yarn } = hadoop;
/** The Hadoop messages that YARN's protocols use. */
export const { common: ofYarn } = hadoop;
export type { hadoop };
