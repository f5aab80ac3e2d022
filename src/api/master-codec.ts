import { decodeHello, decodeLogStream } from "./common-codec.ts";
import type { MasterCommand, MasterMessage } from "./messages.ts";
import { decodeStopReason, encodeStopReason } from "./stop-reason-codec.ts";
import { type Codec, toBuffer, toBytes, toNumber, type tony, v1 } from "./wire.ts";

type WireMasterMessage = tony.v1.MasterMessage.$Properties;

export const masterMessage: Codec<MasterMessage> = {
  serialize({ attempt, generation, body }) {
    return toBuffer(v1.MasterMessage.encode({ attempt, generation, ...encodeCommand(body) }).finish());
  },
  deserialize(bytes) {
    const wire = v1.MasterMessage.decode(bytes);
    return { attempt: wire.attempt ?? 0, generation: wire.generation ?? 0, body: decodeCommand(wire) };
  },
};

function encodeCommand(body: MasterCommand): WireMasterMessage {
  switch (body.type) {
    case "welcome": {
      const { hello, heartbeatIntervalMs, job, attemptProof } = body;
      return { welcome: { hello, heartbeatIntervalMs, job, attemptProof } };
    }
    case "prepare":
      return { prepare: { reason: body.reason } };
    case "start-child": {
      const { clusterSpec, restartReason, restarts, checkpoint } = body;
      return { startChild: { clusterSpec, restartReason, restarts, checkpoint } };
    }
    case "stop-child":
      return { stopChild: { ...body, reason: encodeStopReason(body.reason) } };
    case "exit":
      return { exit: { graceMs: body.graceMs, reason: encodeStopReason(body.reason) } };
    case "tell-place":
      return { tellPlace: {} };
    case "resume-child":
      return { resumeChild: {} };
    case "make-room":
      return { makeRoom: { variables: body.variables } };
    case "replace-tokens":
      return { replaceTokens: { file: body.file } };
    case "end-session":
      return { endSession: { sessionId: body.sessionId } };
    case "serve-session":
      return { serveSession: { sessionId: body.sessionId } };
    case "acknowledge-exit":
      return { acknowledgeExit: {} };
    case "tail-log": {
      const { tailId, task, stream, offset, follow, cancel } = body;
      return { tailLog: { tailId, task, stream, offset, follow, cancel } };
    }
    case "tail-credit":
      return { tailCredit: { tailId: body.tailId, bytes: body.bytes } };
    case "signal-child":
      return { signalChild: { signal: body.signal, reason: body.reason, notice: body.notice } };
    case "refuse":
      return { refuse: { reason: body.reason, fatal: body.fatal } };
    case "unknown":
      return {};
  }
}

function decodeCommand(wire: WireMasterMessage): MasterCommand {
  const { welcome, prepare, startChild, stopChild, exit, tailLog, tailCredit, signalChild, refuse } = wire;
  if (welcome) {
    return {
      type: "welcome",
      hello: decodeHello(welcome.hello),
      heartbeatIntervalMs: welcome.heartbeatIntervalMs ?? 0,
      job: toBytes(welcome.job),
      attemptProof: toBytes(welcome.attemptProof),
    };
  }
  if (prepare) return { type: "prepare", reason: prepare.reason ?? "" };
  if (startChild) {
    return {
      type: "start-child",
      clusterSpec: toBytes(startChild.clusterSpec),
      restartReason: startChild.restartReason ?? "",
      restarts: startChild.restarts ?? 0,
      checkpoint: startChild.checkpoint ?? "",
    };
  }
  if (stopChild) {
    const dump = stopChild.dumpStacks === true ? { dumpStacks: true as const } : {};
    const reason = decodeStopReason(stopChild.reason);
    return { type: "stop-child", graceMs: stopChild.graceMs ?? 0, reason, ...dump };
  }
  if (exit) return { type: "exit", graceMs: exit.graceMs ?? 0, reason: decodeStopReason(exit.reason) };
  if (wire.tellPlace) return { type: "tell-place" };
  if (wire.resumeChild) return { type: "resume-child" };
  if (wire.makeRoom) return { type: "make-room", variables: { ...wire.makeRoom.variables } };
  if (wire.replaceTokens) return { type: "replace-tokens", file: toBytes(wire.replaceTokens.file) };
  if (wire.endSession) return { type: "end-session", sessionId: toNumber(wire.endSession.sessionId) };
  if (wire.serveSession) return { type: "serve-session", sessionId: toNumber(wire.serveSession.sessionId) };
  if (wire.acknowledgeExit) return { type: "acknowledge-exit" };
  if (tailLog) return decodeTailLog(tailLog);
  if (tailCredit) return { type: "tail-credit", tailId: toNumber(tailCredit.tailId), bytes: tailCredit.bytes ?? 0 };
  if (signalChild) return decodeSignal(signalChild);
  if (refuse) return { type: "refuse", reason: refuse.reason ?? "", fatal: refuse.fatal ?? false };
  return { type: "unknown" };
}

function decodeSignal({ signal, reason, notice }: tony.v1.SignalChild.$Properties): MasterCommand {
  const endsAtMs = toNumber(notice?.endsAtMs);
  return {
    type: "signal-child",
    signal: signal ?? "",
    reason: reason ?? "",
    notice: {
      cause: notice?.cause === "decommissioning" ? "decommissioning" : "preemption",
      atMs: toNumber(notice?.atMs),
      ...(endsAtMs === 0 ? {} : { endsAtMs }),
    },
  };
}

function decodeTailLog(wire: tony.v1.TailLog.$Properties): MasterCommand {
  return {
    type: "tail-log",
    tailId: toNumber(wire.tailId),
    task: wire.task ?? "",
    stream: decodeLogStream(wire.stream),
    offset: toNumber(wire.offset),
    follow: wire.follow ?? false,
    cancel: wire.cancel ?? false,
  };
}
