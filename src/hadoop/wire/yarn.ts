/** Messages of YARN's three protocols, generated from proto/hadoop. Nothing outside src/hadoop sees them. */
import "./long.ts";
import { hadoop } from "./generated/yarn.js";

export const { yarn } = hadoop;
/** What the protocols of YARN take from Hadoop's own messages. */
export const { common: ofYarn } = hadoop;
export type { hadoop };
