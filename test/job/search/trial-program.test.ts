import { expect, test } from "@jest/globals";
import { fillCommand } from "../../../src/job/search/trial-program.ts";

test.each<[string, string, string]>([
  ["a value is one word", "train --name {{param.name}} x{{param.lr}}", "train --name 'a b' x0.1"],
  ["one that is not there is nothing", "train --momentum {{param.momentum}} .", "train --momentum  ."],
  ["its option goes with it", "train --momentum={{param.momentum}} --lr={{param.lr}}", "train  --lr=0.1"],
  ["also at the end, and a short one", "train -m={{param.momentum}}", "train "],
  ["a word that is no option stays", "MOMENTUM={{param.momentum}} train", "MOMENTUM= train"],
  ["as does one of two", "train --at={{param.lr}}:{{param.momentum}}", "train --at=0.1:"],
])("in a command of a trial %s", (_, command, filled) => {
  expect(fillCommand(command, { lr: 0.1, name: "a b" })).toBe(filled);
});
