#!/usr/bin/env node
// Prints the Python that can import the named modules: node scripts/test/python.mjs torch
import { findPython } from "../prerequisites.mjs";
import { Problem, runMain } from "../problem.mjs";

await runMain(async () => {
  const modules = process.argv.slice(2);
  const python = await findPython(modules);
  if (python === undefined) throw new Problem(`No Python 3 here can import ${modules.join(" and ")}`);
  console.log(python.command);
});
