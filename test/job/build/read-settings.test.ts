import { expect, test } from "@jest/globals";
import { checkReferences } from "../../../src/job/build/read-settings.ts";
import { formatProblem } from "../../../src/job/problem.ts";
import { mergeSettings } from "../../../src/job/settings.ts";
import { jobSettings, siteSetting } from "../support.ts";

const variables = { environment: { HOME: "/home/ada", EMPTY: "" }, systemProperties: { "user.name": "ada" } };

function said(values: Readonly<Record<string, string>>): string[] {
  return checkReferences(mergeSettings(jobSettings(values)).settings, variables).map(formatProblem);
}

test("a variable that is not set here is told of, with the form that has a default", () => {
  expect(said({ "tony.application.name": "a-${env.NOPE}" })).toEqual([
    "job.xml:1: warning: tony.application.name leaves ${env.NOPE} as written: NOPE is not set here. Set it, or give a default: ${env.NOPE:-VALUE}",
  ]);
});

test("so is one that stands behind a reference without a value", () => {
  expect(said({ "tony.worker.command": "${X} ${env.HOME}" })).toEqual([
    "job.xml:1: warning: tony.worker.command leaves ${env.HOME} as written: expansion stops at ${X} before it, which has no value here",
  ]);
});

test("circles are told of", () => {
  expect(said({ a: "${b}", b: "${a}", c: "${c}/x" })).toEqual([
    "job.xml:1: warning: a needs 20 substitutions or more, as a circle does: nothing in it is expanded",
    "job.xml:2: warning: b needs 20 substitutions or more, as a circle does: nothing in it is expanded",
    "job.xml:3: warning: c refers to itself by ${c}: nothing in it is expanded",
  ]);
});

test.each(["${env.HOME}/x", "${env.NOPE:-d}", "${env.EMPTY}", "${user.name}", "echo ${NOPE} ${model.name}", "$HOME"])(
  "%s is not",
  (value) => expect(said({ "tony.worker.command": value })).toEqual([]),
);

test("nor is what a site's file says: the job's writer cannot change it", () => {
  const { settings } = mergeSettings([siteSetting("tony.application.name", "${env.NOPE}")]);
  expect(checkReferences(settings, variables)).toEqual([]);
});
