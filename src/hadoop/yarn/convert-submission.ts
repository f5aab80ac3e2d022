/** Submissions and listings → messages. */
import { type hadoop, yarn } from "../wire/yarn.ts";
import { launchContextToWire } from "./convert-containers.ts";
import { applicationStates, listingScopes } from "./convert-enums.ts";
import { applicationIdToWire } from "./convert-ids.ts";
import { resourceToWire } from "./convert-resources.ts";
import type { ResourceTypes } from "./resource-types.ts";
import type { ApplicationFilter, LogAggregation, SubmissionContext, TimeRange } from "./submission.ts";

const anyPlace = "*";
const masterPriority = 0;

/** Throws UnknownResourceTypeError for a master resource that the cluster lacks. */
export function submissionToWire(
  context: SubmissionContext,
  types: ResourceTypes,
): hadoop.yarn.ApplicationSubmissionContextProto.$Properties {
  const capability = resourceToWire(context.masterResource, types);
  return {
    application_id: applicationIdToWire(context.id),
    application_name: context.name,
    queue: context.queue,
    am_container_spec: launchContextToWire(context.masterLaunch),
    resource: capability,
    am_container_resource_request: [masterRequest(capability, context.masterNodeLabel)],
    applicationTags: asYarnHasTags(context.tags),
    unmanaged_am: context.unmanaged ?? false,
    cancel_tokens_when_complete: context.cancelTokensWhenComplete ?? true,
    keep_containers_across_application_attempts: context.keepContainers ?? false,
    application_timeouts: context.lifetimeSeconds === undefined ? [] : [lifetime(context.lifetimeSeconds)],
    application_scheduling_properties: Object.entries(context.schedulingProperties ?? {}).map(([key, value]) => ({
      key,
      value,
    })),
    ...given("priority", context.priority, (priority) => ({ priority })),
    ...given("maxAppAttempts", context.maxAppAttempts),
    ...given("applicationType", context.type),
    ...given("attempt_failures_validity_interval", context.attemptFailuresValidityIntervalMs),
    ...given("node_label_expression", context.nodeLabelExpression),
    ...given("log_aggregation_context", context.logAggregation, logAggregationToWire),
  };
}

/** The master's own request: the only place that can name its label. */
function masterRequest(
  capability: hadoop.yarn.ResourceProto.$Properties,
  label: string | undefined,
): hadoop.yarn.ResourceRequestProto.$Properties {
  return {
    priority: { priority: masterPriority },
    resource_name: anyPlace,
    capability,
    num_containers: 1,
    relax_locality: true,
    ...given("node_label_expression", label),
  };
}

function lifetime(seconds: number): hadoop.yarn.ApplicationTimeoutMapProto.$Properties {
  return {
    application_timeout_type: yarn.ApplicationTimeoutTypeProto.APP_TIMEOUT_LIFETIME,
    timeout: seconds,
  };
}

function logAggregationToWire(log: LogAggregation): hadoop.yarn.LogAggregationContextProto.$Properties {
  return {
    ...given("include_pattern", log.include),
    ...given("exclude_pattern", log.exclude),
    ...given("rolled_logs_include_pattern", log.rolledInclude),
    ...given("rolled_logs_exclude_pattern", log.rolledExclude),
    ...given("log_aggregation_policy_class_name", log.policyClass),
    ...given("log_aggregation_policy_parameters", log.policyParameters),
  };
}

export function filterToWire(filter: ApplicationFilter): hadoop.yarn.GetApplicationsRequestProto.$Properties {
  const [startBegin, startEnd] = bounds(filter.startedMs);
  const [finishBegin, finishEnd] = bounds(filter.finishedMs);
  return {
    application_types: [...(filter.types ?? [])],
    application_states: (filter.states ?? []).map((state) => applicationStates.toWire(state)),
    users: [...(filter.users ?? [])],
    queues: [...(filter.queues ?? [])],
    applicationTags: asYarnHasTags(filter.tags),
    scope: listingScopes.toWire(filter.scope ?? "ALL"),
    ...given("name", filter.name),
    ...given("limit", filter.limit),
    ...given("start_begin", startBegin),
    ...given("start_end", startEnd),
    ...given("finish_begin", finishBegin),
    ...given("finish_end", finishEnd),
  };
}

/** The server requires both ends of a range or neither (GetApplicationsRequestPBImpl). */
function bounds(range: TimeRange | undefined): readonly [number | undefined, number | undefined] {
  if (range === undefined) return [undefined, undefined];
  return [range.from ?? 0, range.to ?? Number.MAX_SAFE_INTEGER];
}

/** A message field, or nothing if there is no value for it. */
function given<Name extends string, Value>(name: Name, value: Value | undefined): { [K in Name]?: Value };
function given<Name extends string, Value, Wire>(
  name: Name,
  value: Value | undefined,
  convert: (value: Value) => Wire,
): { [K in Name]?: Wire };
function given(name: string, value: unknown, convert: (value: unknown) => unknown = (same) => same): object {
  return value === undefined ? {} : { [name]: convert(value) };
}

/** YARN's own clients send tags, and search for them, in lower case (ApplicationSubmissionContextPBImpl, GetApplicationsRequestPBImpl). */
function asYarnHasTags(tags: readonly string[] = []): string[] {
  return [...new Set(tags.map((tag) => tag.toLowerCase()))];
}
