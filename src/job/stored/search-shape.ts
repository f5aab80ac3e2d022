import type { ChoiceDomain, Condition, Domain, NumberDomain, Parameter } from "../search/space.ts";
import { parameterValue, trialLineShape } from "../search/trial-line.ts";
import type { Budget, FailureLimits, Search } from "../search/trials.ts";
import { amount, arrayOf, bool, count, literal, object, recordOf, type Shape, ShapeError, string } from "../shape.ts";

const numberDomain = object<NumberDomain>({
  required: { kind: literal("float", "int"), low: amount, high: amount, log: bool },
  optional: { step: amount },
});

const choices: Shape<ChoiceDomain["choices"]> = (value, where) => {
  const [first, ...others] = arrayOf(parameterValue)(value, where);
  if (first === undefined) throw new ShapeError(`${where} must not be empty`);
  return [first, ...others];
};

const choiceDomain = object<ChoiceDomain>({ required: { kind: literal("choice"), choices }, optional: {} });

const domain: Shape<Domain> = (value, where) => {
  const { kind } = object<{ kind: Domain["kind"] }>({
    required: { kind: literal("float", "int", "choice") },
    optional: {},
  })(value, where);
  return kind === "choice" ? choiceDomain(value, where) : numberDomain(value, where);
};

const condition = object<Condition>({ required: { parameter: string, values: arrayOf(string) }, optional: {} });
const parameter = object<Parameter>({ required: { name: string, domain }, optional: { when: condition } });
const budget = object<Budget>({ required: { min: count, max: count, factor: count }, optional: {} });

const failures = object<FailureLimits>({
  required: { onFailed: literal("continue", "end") },
  optional: { most: count, mostInARow: count },
});

/** Checks a search that was read from JSON. */
export const searchShape: Shape<Search> = object<Search>({
  required: {
    space: arrayOf(parameter),
    points: arrayOf(recordOf(parameterValue)),
    metric: string,
    direction: literal("minimize", "maximize"),
    algorithm: literal("tpe", "random", "grid", "evolution", "optuna"),
    maxParallel: count,
    population: count,
    stop: literal("none", "median", "asha", "asha-promotion", "hyperband"),
    failures,
    retries: count,
    seed: count,
  },
  optional: {
    maxTrials: count,
    budget,
    goal: amount,
    timeoutMs: count,
    keepIdleMs: count,
    keepCheckpoints: count,
    optunaPython: string,
    optunaProgram: string,
    jobFile: string,
    givenKeys: arrayOf(string),
    outputDir: string,
    before: arrayOf(trialLineShape),
  },
});

/** The parameters of one trial. */
export const parametersShape = recordOf(parameterValue);
