/**
 * Printed ids ⇄ their protobuf messages. ContainerIdProto.id is `epoch << 40 | sequence`, which exceeds a JavaScript number's exact range
 * from epoch 8192, so it stays a 64-bit integer here and never leaves this file.
 */
import Long from "long";
import type { hadoop } from "../wire/yarn.ts";
import {
  type ApplicationIdParts,
  type AttemptIdParts,
  formatApplicationId,
  formatAttemptId,
  formatContainerId,
  formatNodeId,
  parseApplicationId,
  parseAttemptId,
  parseContainerId,
  parseNodeId,
} from "./ids.ts";
import type { ApplicationAttemptId, ApplicationId, ContainerId, NodeId } from "./records.ts";

type ApplicationIdProto = hadoop.yarn.ApplicationIdProto.$Properties;
type AttemptIdProto = hadoop.yarn.ApplicationAttemptIdProto.$Properties;
type ContainerIdProto = hadoop.yarn.ContainerIdProto.$Properties;
type NodeIdProto = hadoop.yarn.NodeIdProto.$Properties;

const sequenceBits = 40n;
const sequenceMask = (1n << sequenceBits) - 1n;

/** A 64-bit field as a number: for times and amounts, which YARN keeps far below 2^53. */
export function toNumber(value: number | Long | null | undefined): number {
  return Number(value ?? 0);
}

export function applicationIdToWire(id: ApplicationId): ApplicationIdProto {
  return applicationPartsToWire(parseApplicationId(id));
}

export function applicationIdFromWire(message: ApplicationIdProto | null | undefined): ApplicationId {
  return formatApplicationId(applicationParts(message));
}

export function attemptIdToWire(id: ApplicationAttemptId): AttemptIdProto {
  return attemptPartsToWire(parseAttemptId(id));
}

export function attemptIdFromWire(message: AttemptIdProto | null | undefined): ApplicationAttemptId {
  return formatAttemptId(attemptParts(message));
}

export function containerIdToWire(id: ContainerId): ContainerIdProto {
  const parts = parseContainerId(id);
  const value = (BigInt(parts.epoch) << sequenceBits) | BigInt(parts.sequence);
  return { app_attempt_id: attemptPartsToWire(parts), id: Long.fromString(value.toString()) };
}

export function containerIdFromWire(message: ContainerIdProto | null | undefined): ContainerId {
  const value = BigInt.asUintN(64, BigInt((message?.id ?? 0).toString()));
  return formatContainerId({
    ...attemptParts(message?.app_attempt_id),
    epoch: Number(value >> sequenceBits),
    sequence: Number(value & sequenceMask),
  });
}

export function nodeIdToWire(id: NodeId): NodeIdProto {
  return parseNodeId(id);
}

export function nodeIdFromWire(message: NodeIdProto | null | undefined): NodeId {
  return formatNodeId({ host: message?.host ?? "", port: message?.port ?? 0 });
}

function applicationPartsToWire(parts: ApplicationIdParts): ApplicationIdProto {
  return { id: parts.application, cluster_timestamp: parts.clusterTimestampMs };
}

function attemptPartsToWire(parts: AttemptIdParts): AttemptIdProto {
  return { application_id: applicationPartsToWire(parts), attemptId: parts.attempt };
}

function applicationParts(message: ApplicationIdProto | null | undefined): ApplicationIdParts {
  return { clusterTimestampMs: toNumber(message?.cluster_timestamp), application: message?.id ?? 0 };
}

function attemptParts(message: AttemptIdProto | null | undefined): AttemptIdParts {
  return { ...applicationParts(message?.application_id), attempt: message?.attemptId ?? 0 };
}
