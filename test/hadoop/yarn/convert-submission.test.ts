import { expect, test } from "@jest/globals";
import { yarn } from "../../../src/hadoop/wire/yarn.ts";
import { applicationReportFromWire } from "../../../src/hadoop/yarn/convert-reports.ts";
import { filterToWire, submissionToWire } from "../../../src/hadoop/yarn/convert-submission.ts";
import { ResourceTypes } from "../../../src/hadoop/yarn/resource-types.ts";

const context = {
  id: "application_1_0002",
  name: "train",
  queue: "ml",
  masterLaunch: { commands: ["run"] },
  masterResource: { memoryMiB: 512, vcores: 1, others: { "yarn.io/gpu": 2 } },
};
const types = new ResourceTypes([{ name: "yarn.io/gpu", units: "" }]);
const capability = {
  memory: 512,
  virtual_cores: 1,
  resource_value_map: [{ key: "yarn.io/gpu", value: 2, units: "" }],
};

test("a submission that says nothing else has YARN's defaults, but its tokens end with it", () => {
  expect(submissionToWire(context, types)).toEqual({
    application_id: { cluster_timestamp: 1, id: 2 },
    application_name: "train",
    queue: "ml",
    am_container_spec: expect.objectContaining({ command: ["run"] }),
    resource: capability,
    am_container_resource_request: [
      { priority: { priority: 0 }, resource_name: "*", capability, num_containers: 1, relax_locality: true },
    ],
    applicationTags: [],
    unmanaged_am: false,
    cancel_tokens_when_complete: true,
    keep_containers_across_application_attempts: false,
    application_timeouts: [],
    application_scheduling_properties: [],
  });
});

test("a submission is told in full", () => {
  const whole = submissionToWire(
    {
      ...context,
      masterNodeLabel: "masters",
      nodeLabelExpression: "gpu",
      type: "TONY",
      tags: ["Nightly", "nightly"],
      priority: 5,
      maxAppAttempts: 3,
      attemptFailuresValidityIntervalMs: 60_000,
      keepContainers: true,
      lifetimeSeconds: 120,
      cancelTokensWhenComplete: false,
      unmanaged: true,
      schedulingProperties: { a: "1" },
      logAggregation: {
        include: "i",
        exclude: "e",
        rolledInclude: "ri",
        rolledExclude: "re",
        policyClass: "c",
        policyParameters: "p",
      },
    },
    types,
  );
  expect(whole).toMatchObject({
    am_container_resource_request: [{ node_label_expression: "masters" }],
    node_label_expression: "gpu",
    applicationType: "TONY",
    applicationTags: ["nightly"],
    priority: { priority: 5 },
    maxAppAttempts: 3,
    attempt_failures_validity_interval: 60_000,
    keep_containers_across_application_attempts: true,
    application_timeouts: [
      { application_timeout_type: yarn.ApplicationTimeoutTypeProto.APP_TIMEOUT_LIFETIME, timeout: 120 },
    ],
    cancel_tokens_when_complete: false,
    unmanaged_am: true,
    application_scheduling_properties: [{ key: "a", value: "1" }],
  });
  expect(whole.log_aggregation_context).toEqual({
    include_pattern: "i",
    exclude_pattern: "e",
    rolled_logs_include_pattern: "ri",
    rolled_logs_exclude_pattern: "re",
    log_aggregation_policy_class_name: "c",
    log_aggregation_policy_parameters: "p",
  });
});

test("a listing is asked for by all that restricts it", () => {
  expect(
    filterToWire({
      types: ["TONY"],
      states: ["RUNNING", "KILLED"],
      users: ["ada"],
      queues: ["ml"],
      name: "train",
      limit: 9,
      startedMs: { from: 1, to: 2 },
      finishedMs: { from: 3, to: 4 },
      scope: "OWN",
    }),
  ).toEqual({
    application_types: ["TONY"],
    application_states: [yarn.YarnApplicationStateProto.RUNNING, yarn.YarnApplicationStateProto.KILLED],
    users: ["ada"],
    queues: ["ml"],
    applicationTags: [],
    scope: yarn.ApplicationsRequestScopeProto.OWN,
    name: "train",
    limit: 9,
    start_begin: 1,
    start_end: 2,
    finish_begin: 3,
    finish_end: 4,
  });
  expect(filterToWire({})).toEqual({
    application_types: [],
    application_states: [],
    users: [],
    queues: [],
    applicationTags: [],
    scope: yarn.ApplicationsRequestScopeProto.ALL,
  });
});

test("tags are looked for as YARN's own clients have them: in lower case, each once", () => {
  expect(filterToWire({ tags: ["Team-A", "team-a", "NIGHTLY"] }).applicationTags).toEqual(["team-a", "nightly"]);
  expect(filterToWire({}).applicationTags).toEqual([]);
});

test("a time that is open at one end has both on the wire, as the server wants it", () => {
  expect(filterToWire({ startedMs: { from: 5 }, finishedMs: { to: 9 } })).toMatchObject({
    start_begin: 5,
    start_end: Number.MAX_SAFE_INTEGER,
    finish_begin: 0,
    finish_end: 9,
  });
  expect(filterToWire({})).not.toHaveProperty("start_begin");
});

test("an application whose ApplicationMaster runs in no container of the cluster's is reported as such", () => {
  const applicationId = { cluster_timestamp: 1, id: 2 };
  expect(applicationReportFromWire({ applicationId, unmanaged_application: true }).unmanaged).toBe(true);
  expect(applicationReportFromWire({ applicationId, unmanaged_application: false }).unmanaged).toBeUndefined();
});
