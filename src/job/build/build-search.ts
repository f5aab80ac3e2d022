import { readLocalText } from "../../hadoop/conf/xml.ts";
import { errorMessage } from "../../hadoop/errors.ts";
import { findKey, type KeyName, keyFor } from "../keys.ts";
import { nearest } from "../nearest.ts";
import { rungsOf } from "../search/asha.ts";
import { gridSize, hasGrid } from "../search/grid.ts";
import { roundOf } from "../search/hyperband.ts";
import { domainWords } from "../search/parse-parameter.ts";
import { valueFrom } from "../search/random-search.ts";
import {
  type Described,
  identityOf,
  isActive,
  nameLike,
  type Parameter,
  type Parameters,
  type ParameterValue,
  type Space,
  sizeOf,
  variableOf,
} from "../search/space.ts";
import { type FailureLimits, MOST_TRIALS, type Search } from "../search/trials.ts";
import { hasRungs } from "../search/words.ts";
import type { RoleSpec } from "../spec.ts";
import type { JobReader } from "./job-reader.ts";
import { parseSpace } from "./parse-space.ts";

const DEFAULT_TRIALS = 100;
/** The first generation of Hops' differential evolution, and four generations of offspring. */
const GENERATIONS = 5;
/** How long a container is kept while Optuna is asked for the next trial, unless the job says how long. */
const ANSWER_MS = 5_000;
const NAME = /^[A-Za-z_]\w*$/;

/** The search that a job describes; undefined when no key requests one, or when its keys are wrong, which is reported. */
export function buildSearch(reader: JobReader, roles: readonly RoleSpec[]): Search | undefined {
  const first = firstOfSearch(reader);
  if (first === undefined) return undefined;
  const before = reader.problems.length;
  const space = inOrder(reader, readSpace(reader));
  const said = requireKeys(reader, first);
  checkGrid(reader, space);
  const names = new Set([...namesSaid(reader), ...space.map(({ name }) => name)]);
  const stop = reader.read("tony.search.stop");
  if (hasRungs(stop) && !reader.has("tony.search.budget")) {
    reader.error(
      "tony.search.stop",
      `= ${stop} needs tony.search.budget: its rungs as MIN MAX FACTOR in steps, such as 1 81 3`,
    );
  }
  checkRoles(reader, roles, first, space, names);
  const points = readPoints(reader, space, names);
  if (reader.problems.length > before || said === undefined || space.length === 0) return undefined;
  const algorithm = reader.read("tony.search.algorithm");
  const isAsked = algorithm === "optuna";
  const population = reader.read("tony.search.population");
  const budget = reader.read("tony.search.budget");
  const isRound = stop === "hyperband" && budget !== undefined;
  const usual = isRound ? roundOf(rungsOf(budget).length, budget.factor) : DEFAULT_TRIALS;
  const presets = { grid: undefined, evolution: population * GENERATIONS, tpe: usual, random: usual, optuna: usual };
  const maxTrials = reader.read("tony.search.max-trials") ?? presets[algorithm];
  checkCut(reader, algorithm, space, maxTrials);
  checkRetries(reader);
  checkEffects(reader, { algorithm, stop, points }, maxTrials);
  const goal = reader.read("tony.search.goal");
  const timeoutMs = reader.read("tony.search.timeout");
  const keepIdleMs =
    readKeepIdle(reader) ?? (isAsked && !reader.has("tony.search.keep-idle-ms") ? ANSWER_MS : undefined);
  const keepCheckpoints = readKeepCheckpoints(reader);
  const outputDir = reader.read("tony.output.dir");
  return {
    space: space.map(({ key: _, ...parameter }) => parameter),
    points,
    ...said,
    algorithm,
    ...(maxTrials === undefined ? {} : { maxTrials }),
    maxParallel: reader.read("tony.search.max-parallel"),
    population,
    stop,
    ...(budget === undefined ? {} : { budget }),
    ...(goal === undefined ? {} : { goal }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(keepIdleMs === undefined ? {} : { keepIdleMs }),
    ...(keepCheckpoints === undefined ? {} : { keepCheckpoints }),
    ...(outputDir === undefined ? {} : { outputDir }),
    ...(isAsked ? { optunaPython: readOptunaPython(reader) } : {}),
    failures: readFailureLimits(reader),
    retries: reader.read("tony.search.retry-count"),
    seed: reader.read("tony.search.seed"),
  };
}

/** In a container that copies files, the executor ends with its task. */
function readKeepIdle(reader: JobReader): number | undefined {
  const key = "tony.search.keep-idle-ms" satisfies KeyName;
  const ms = reader.read(key);
  const copies = (["tony.checkpoint.local-dir", "tony.output.local-dir"] as const).find((one) => reader.has(one));
  if (ms !== undefined && copies !== undefined) {
    reader.warn(key, `has no effect with ${copies}: a container whose files are copied is returned after its trial`);
  }
  return ms;
}

function readOptunaPython(reader: JobReader): string {
  return reader.read("tony.search.optuna.python") ?? reader.read("tony.python-exec-path") ?? "python3";
}

/** Checkpoints that programs store themselves are never removed. */
function readKeepCheckpoints(reader: JobReader): number | undefined {
  const key = "tony.search.keep-checkpoints" satisfies KeyName;
  const kept = reader.read(key);
  const local = "tony.checkpoint.local-dir" satisfies KeyName;
  if (kept !== undefined && !reader.has(local)) {
    reader.warn(key, `has no effect without ${local}: tony-ts removes only checkpoints that its executors stored`);
  }
  return kept;
}

/** The first key that makes the job a search. */
export function firstOfSearch(reader: JobReader): string | undefined {
  return [...reader.settings.values()].find(({ key, layer }) => layer !== "site" && isSearchKey(key))?.key;
}

function readFailureLimits(reader: JobReader): FailureLimits {
  const most = reader.read("tony.search.max-failed-trials");
  const mostInARow = reader.read("tony.search.max-failed-trials-in-a-row");
  return {
    onFailed: reader.read("tony.search.on-failed-trial"),
    ...(most === undefined ? {} : { most }),
    ...(mostInARow === undefined ? {} : { mostInARow }),
  };
}

/** A parameter, and the key that describes it. */
interface Said extends Parameter {
  readonly key: string;
}

function isSearchKey(key: string): boolean {
  return findKey(key)?.name.startsWith("tony.search.") === true;
}

/** The parameters that have a key of their own, even if its text is not valid. */
function namesSaid(reader: JobReader): string[] {
  return [...reader.settings.keys()].flatMap((key) => {
    const { name, parameters } = findKey(key) ?? {};
    return name === "tony.search.param.{param}" ? (parameters?.param ?? []) : [];
  });
}

function readSpace(reader: JobReader): Said[] {
  const own = [...reader.settings.keys()].flatMap((key): Said[] => {
    const { name, parameters } = findKey(key) ?? {};
    if (name !== "tony.search.param.{param}" || parameters?.param === undefined) return [];
    const described = reader.read(name, parameters);
    // Text that is not a parameter is reported.
    return described === undefined ? [] : [{ name: parameters.param, ...described, key }];
  });
  const ofFile = readSpaceFile(reader);
  for (const { name } of ofFile) {
    if (own.some((parameter) => parameter.name === name)) {
      reader.error(
        keyFor("tony.search.param.{param}", { param: name }),
        "is in the file of tony.search.space, too: keep one",
      );
    }
  }
  return [...ofFile, ...own];
}

function readSpaceFile(reader: JobReader): Said[] {
  const key = "tony.search.space" satisfies KeyName;
  const path = reader.read(key);
  if (path === undefined) return [];
  const file = reader.localFile(key, path);
  if (file === undefined) {
    reader.error(key, `names ${path}, which is not a file on this machine`);
    return [];
  }
  try {
    return parseSpace(readLocalText(file) ?? "", path, (line) => reader.error(key, line)).map((one) => ({
      ...one,
      key,
    }));
  } catch (error) {
    reader.error(key, `names ${path}, which cannot be read: ${errorMessage(error)}`);
    return [];
  }
}

/** Each parameter after the one that its condition refers to; one that cannot be placed is an error. */
function inOrder(reader: JobReader, given: readonly Said[]): readonly Said[] {
  const placed: Said[] = [];
  let waiting = given;
  const variables = new Map<string, string>();
  for (const { key, name } of given) {
    if (!NAME.test(name))
      reader.error(key, `names a parameter ${name}: write it with letters, digits and _, such as ${nameLike(name)}`);
    const variable = variableOf(name);
    const other = variables.get(variable) ?? name;
    variables.set(variable, other);
    if (other !== name) {
      const both = `whose variable ${variable} is that of ${other}, too`;
      reader.error(key, `names a parameter ${name}, ${both}: rename one of them`);
    }
  }
  while (waiting.length > 0) {
    const fit = waiting.filter(({ when }) => when === undefined || placed.some(({ name }) => name === when.parameter));
    if (fit.length === 0) break;
    placed.push(...fit);
    waiting = waiting.filter((parameter) => !fit.includes(parameter));
  }
  const said = namesSaid(reader);
  for (const { key, when } of waiting) {
    const parameter = when?.parameter ?? "";
    if (given.some(({ name }) => name === parameter)) reader.error(key, `depends on ${parameter}, which depends on it`);
    else if (!said.includes(parameter)) reader.error(key, unknown(parameter, given));
  }
  for (const { key, when } of placed) if (when !== undefined) checkCondition(reader, key, when, placed);
  return placed;
}

function checkCondition(
  reader: JobReader,
  key: string,
  { parameter, values }: NonNullable<Described["when"]>,
  space: readonly Said[],
): void {
  const domain = space.find(({ name }) => name === parameter)?.domain;
  if (domain?.kind !== "choice") {
    reader.error(key, `has a condition on ${parameter}, which is not a choice`);
    return;
  }
  const choices = domain.choices.map(String);
  for (const value of values.filter((one) => !choices.includes(one))) {
    reader.error(key, `depends on ${parameter}=${value}, which is not one of its choices: ${choices.join(", ")}`);
  }
}

function unknown(name: string, space: readonly Parameter[]): string {
  const meant = nearest(
    name,
    space.map((parameter) => parameter.name),
  );
  return `names ${name}, which is not a parameter of the search${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}

function requireKeys(reader: JobReader, first: string): Pick<Search, "metric" | "direction"> | undefined {
  const [metric, direction] = [reader.read("tony.search.metric"), reader.read("tony.search.direction")];
  const hasParameters = [...reader.settings.keys()].some((key) => findKey(key)?.name === "tony.search.param.{param}");
  if (!hasParameters && !reader.has("tony.search.space")) {
    reader.error(
      first,
      "belongs to a search, which needs parameters: set tony.search.param.NAME, such as float 1e-5 1e-1 log",
    );
  }
  if (!metric)
    reader.error(first, "belongs to a search, which needs tony.search.metric: the name of the metric to optimize");
  if (!reader.has("tony.search.direction")) {
    reader.error(first, "belongs to a search, which needs tony.search.direction: minimize or maximize");
  }
  return metric && direction !== undefined ? { metric, direction } : undefined;
}

function checkGrid(reader: JobReader, space: readonly Said[]): void {
  if (reader.read("tony.search.algorithm") !== "grid" || hasGrid(space)) return;
  for (const { key, name, domain } of space.filter(({ domain }) => !Number.isFinite(sizeOf(domain)))) {
    const { low, high, log } = domain.kind === "choice" ? { low: 0, high: 1, log: false } : domain;
    const step = Number(((high - low) / 10).toPrecision(6));
    const ratios = [0, 0.25, 0.5, 0.75, 1].map((part) => Number((low * (high / low) ** part).toPrecision(2)));
    const mend = log ? `choices (choice ${ratios.join(" ")})` : `a step (float ${low} ${high} step ${step}) or choices`;
    reader.error(key, `has no grid: give ${name} ${mend}`);
  }
}

/** Reports a grid that is not tried completely. */
function checkCut(
  reader: JobReader,
  algorithm: Search["algorithm"],
  space: readonly Said[],
  maxTrials = MOST_TRIALS,
): void {
  const places = gridSize(space);
  if (algorithm !== "grid" || places <= maxTrials) return;
  reader.warn(
    "tony.search.max-trials",
    `= ${maxTrials} is less than the size of the grid: only the first ${maxTrials} of its ${places} combinations are tried`,
  );
}

/** Reports the job's own budgets: trials have one of their own instead. */
function checkRetries(reader: JobReader): void {
  for (const { key, layer } of reader.settings.values()) {
    const name = findKey(key)?.name;
    if (layer !== "site" && (name === "tony.am.retry-count" || name === "tony.{role}.retry-count"))
      reader.warn(key, "has no effect in a search: tony.search.retry-count says how often a trial starts again");
  }
}

/** Reports settings without effect. */
function checkEffects(
  reader: JobReader,
  { algorithm, stop, points }: Pick<Search, "algorithm" | "stop" | "points">,
  maxTrials = MOST_TRIALS,
): void {
  const vain = "has no effect with";
  if (reader.has("tony.search.budget") && !hasRungs(stop)) {
    reader.warn(
      "tony.search.budget",
      `${vain} tony.search.stop = ${stop}: set it to asha, asha-promotion or hyperband`,
    );
  }
  if (reader.has("tony.search.population") && algorithm !== "evolution") {
    reader.warn("tony.search.population", `${vain} tony.search.algorithm = ${algorithm}: set it to evolution`);
  }
  if (points.length > maxTrials) {
    const more = `has ${points.length} points, more than the search has trials`;
    reader.warn("tony.search.points", `${more} (tony.search.max-trials = ${maxTrials}): the last ones are not tried`);
  }
}

/** Trials are gangs; a stage would be another gang. */
function checkRoles(
  reader: JobReader,
  roles: readonly RoleSpec[],
  first: string,
  space: Space,
  names: ReadonlySet<string>,
): void {
  const late = roles.find(({ dependsOn }) => dependsOn !== undefined);
  if (late !== undefined) {
    reader.error(
      first,
      `belongs to a search, whose trials have no stages: ${late.name} waits for ${late.dependsOn?.join(", ")}`,
    );
  }
  for (const { name: role, command } of roles) {
    const own = keyFor("tony.{role}.command", { role });
    const key = reader.settings.has(own) ? own : "tony.containers.command";
    for (const [, name = ""] of command.matchAll(/\{\{param\.([^{}]*)\}\}/g)) {
      if (!names.has(name)) reader.error(key, unknown(name, space));
    }
    for (const [words, name] of command.matchAll(/\{\{\s+param\.([^{}]*?)\s*\}\}/g))
      reader.error(key, `has ${words}: write {{param.${name}}}`);
    for (const [words, option = "", name] of command.matchAll(/(?<=^|\s)(--?[\w-]+)\s+\{\{param\.([^{}]*)\}\}/g)) {
      if (space.some((parameter) => parameter.name === name && parameter.when !== undefined))
        reader.warn(
          key,
          `has ${words}, which is not in every trial: without it, ${option} takes the next word as its value; write ${option}={{param.${name}}}`,
        );
    }
  }
}

/** The text between semicolons that are not part of a value. */
const POINT = /(?:"[^"]*"|[^;])+/g;

/** One assignment in a point. */
const ASSIGNMENT = /[^\s=]+=(?:"[^"]*"|\S*)/g;

function readPoints(reader: JobReader, space: Space, names: ReadonlySet<string>): readonly Parameters[] {
  const said = (reader.read("tony.search.points") ?? "").match(POINT) ?? [];
  const points = said.filter((point) => point.trim() !== "");
  const seen = new Set<string>();
  return points.flatMap((point) => {
    const before = reader.problems.length;
    const refuse = (what: string) => reader.error("tony.search.points", `has the point ${point.trim()}, ${what}`);
    const given = new Map<string, string>();
    for (const word of point.match(ASSIGNMENT) ?? []) {
      const [name = ""] = word.split("=");
      if (given.has(name)) refuse(`which has ${name} twice`);
      given.set(name, word.slice(name.length + 1));
    }
    const rest = point.replace(ASSIGNMENT, " ").trim();
    if (rest !== "") refuse(`in which ${rest} is not NAME=VALUE`);
    if (reader.problems.length > before) return [];
    const stray = [...given.keys()].find((name) => !names.has(name));
    if (stray !== undefined) refuse(`which ${unknown(stray, space)}`);
    const parameters: Record<string, ParameterValue> = {};
    for (const parameter of space) {
      const text = given.get(parameter.name)?.replaceAll('"', "");
      const isAsked = isActive(parameter, parameters);
      const value = text === undefined ? undefined : valueFrom(parameter, text);
      if (isAsked && text === undefined) refuse(`which has no ${parameter.name}`);
      else if (isAsked && value === undefined)
        refuse(`whose ${parameter.name}=${text} does not fit ${domainWords(parameter.domain)}`);
      else if (!isAsked && text !== undefined)
        refuse(`which sets ${parameter.name}, although its condition does not hold`);
      else if (value !== undefined) parameters[parameter.name] = value;
    }
    const identity = identityOf(space, parameters);
    if (reader.problems.length === before && seen.has(identity)) refuse("which is a duplicate: nothing is tried twice");
    seen.add(identity);
    return [parameters];
  });
}
