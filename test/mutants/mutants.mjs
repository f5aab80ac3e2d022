import { CORE_MUTANTS } from "./core.mjs";
import { HADOOP_MUTANTS } from "./hadoop.mjs";
import { LINK_MUTANTS } from "./links.mjs";

/** @type {readonly import("./mutant.mjs").Mutant[]} */
export const MUTANTS = [...CORE_MUTANTS, ...LINK_MUTANTS, ...HADOOP_MUTANTS];
