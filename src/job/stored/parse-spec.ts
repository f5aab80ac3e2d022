import { TonyError } from "../../errors.ts";
import { errorMessage } from "../../hadoop/errors.ts";
import type { Resource } from "../../hadoop/yarn/records.ts";
import { feedSpecShape } from "../feeds/feed-spec.ts";
import type { SpecSection } from "../keys/key.ts";
import { placementConstraint } from "../keys/placement-types.ts";
import { sectionShape } from "../keys/section.ts";
import { keys, type SectionOf } from "../keys.ts";
import { arrayOf, bool, both, count, literal, object, recordOf, type Shape, ShapeError, string } from "../shape.ts";
import type {
  AmSpec,
  CarrierSpec,
  Constrained,
  FailureSpec,
  FileToShip,
  GroupLimit,
  JobSpec,
  RoleSpec,
  Timeouts,
} from "../spec.ts";
import { searchShape } from "./search-shape.ts";

/** The spec of a job cannot be used (`JOB_SPEC_INVALID`): it is damaged, or of another version of tony-ts. */
export class JobSpecError extends TonyError {
  override readonly name = "JobSpecError";

  constructor(message: string, cause?: unknown) {
    super(message, { code: "JOB_SPEC_INVALID", cause });
  }
}

/** Reads a spec from JSON text, or from its parsed value. @throws JobSpecError */
export function parseJobSpec(json: unknown): JobSpec {
  const value = typeof json === "string" ? parseJson(json) : json;
  try {
    return jobSpec(value, "");
  } catch (error) {
    if (error instanceof ShapeError) throw new JobSpecError(`the job's spec is not usable: ${error.message}`, error);
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new JobSpecError(`the job's spec is not JSON: ${errorMessage(error)}`, error);
  }
}

const resource: Shape<Resource> = object({
  required: { memoryMiB: count, vcores: count, others: recordOf(count) },
  optional: {},
});

const filesToShip = arrayOf<FileToShip>(
  object({
    required: { source: string, name: string, as: literal("file", "archive", "working-directory") },
    optional: {},
  }),
);

/** The fields that are the value of one key each. */
function section<S extends SpecSection>(name: S): Shape<SectionOf<S>> {
  return sectionShape(keys, name);
}

/** The other fields of a part of the spec, which combine several keys. */
type Composed<Part, S extends SpecSection> = Omit<Part, keyof SectionOf<S>>;

const literalTrue: Shape<true> = (value, where) => {
  if (value === true) return value;
  throw new ShapeError(`${where} must be true`);
};

const am: Shape<AmSpec> = both(
  section("am"),
  object<Composed<AmSpec, "am">>({
    required: { resource, files: filesToShip },
    optional: { nodeLabel: string, image: recordOf(string) },
  }),
);

const constrained = object<Constrained>({
  required: { tags: arrayOf(string) },
  optional: { constraint: placementConstraint.shape },
});

const role: Shape<RoleSpec> = both(
  section("role"),
  object<Composed<RoleSpec, "role">>({
    required: {
      name: string,
      instances: count,
      resource,
      command: string,
      environment: recordOf(string),
      tracking: literal("tracked", "untracked", "sidecar"),
      stopOnFailure: bool,
      chief: literal("all", "first", "none"),
      reusePort: bool,
      files: filesToShip,
    },
    optional: {
      nodeLabel: string,
      image: recordOf(string),
      constrained,
      inMaster: literalTrue,
      dependsOn: arrayOf(string),
    },
  }),
);

const failure: Shape<FailureSpec> = both(
  section("failure"),
  object<Composed<FailureSpec, "failure">>({
    required: {
      onWorkerFailure: literal("fail", "tolerate"),
      budgets: section("failure.budgets"),
      backOff: section("failure.backOff"),
      blame: section("failure.blame"),
    },
    optional: {},
  }),
);

const timeouts: Shape<Timeouts> = both(
  section("timeouts"),
  object<Composed<Timeouts, "timeouts">>({
    required: { heartbeatExpiryMs: count, verdictMs: count, orphanMs: count },
    optional: {},
  }),
);

const carrier: Shape<CarrierSpec> = both(
  section("carrier"),
  object<Composed<CarrierSpec, "carrier">>({
    required: {},
    optional: {
      checkpoints: object({ required: { localDir: string, keep: count }, optional: {} }),
      output: object({ required: { localDir: string, dir: string }, optional: {} }),
      bytesPerSecond: count,
    },
  }),
);

const groupLimit: Shape<GroupLimit> = object({
  required: {
    role: string,
    group: string,
    roles: arrayOf(string),
    limitMs: count,
    atLimit: literal("fail", "untrack"),
  },
  optional: {},
});

const jobSpec: Shape<JobSpec> = both(
  section("job"),
  object<Composed<JobSpec, "job">>({
    required: {
      specVersion: literal(2),
      groupLimits: arrayOf(groupLimit),
      am,
      roles: arrayOf(role),
      leadTask: string,
      tensorBoardTask: string,
      files: filesToShip,
      containerEnvironment: recordOf(string),
      failure,
      timeouts,
      preemption: section("preemption"),
      ports: section("ports"),
      history: section("history"),
      logs: section("logs"),
      metrics: section("metrics"),
      sources: recordOf(string),
    },
    optional: {
      carrier,
      search: searchShape,
      trials: count,
      feeds: arrayOf(feedSpecShape),
      outlivesExits: literalTrue,
    },
  }),
);
