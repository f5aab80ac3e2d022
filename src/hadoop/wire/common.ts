/** Messages of Hadoop's RPC and of its token files, generated from proto/hadoop. Nothing outside src/hadoop sees them. */
import "./long.ts";
import { hadoop } from "./generated/common.js";

export const { common } = hadoop;
export type { hadoop };
