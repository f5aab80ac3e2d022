import type { StoreAnswer } from "../job/store/transaction.ts";
import { decodeHello, decodeLogChunk, decodeLogStream, encodeLogChunk } from "./common-codec.ts";
import type {
  FollowMessage,
  FollowRequest,
  LogChunk,
  ReadLogRequest,
  RejoinReply,
  RejoinRequest,
  StopReply,
  StopRequest,
  StoreRequest,
} from "./messages.ts";
import { storeAnswer, storeTransaction } from "./store-codec.ts";
import { type Codec, toBuffer, toBytes, toNumber, v1 } from "./wire.ts";

export const followRequest: Codec<FollowRequest> = {
  serialize: ({ hello }) => toBuffer(v1.FollowRequest.encode({ hello }).finish()),
  deserialize: (bytes) => ({ hello: decodeHello(v1.FollowRequest.decode(bytes).hello) }),
};

export const followMessage: Codec<FollowMessage> = {
  serialize(message) {
    const { attempt } = message;
    const status = message.type === "status" ? { status: message.status } : {};
    const outcome = message.type === "outcome" ? { outcome: message.outcome } : {};
    return toBuffer(v1.FollowMessage.encode({ attempt, ...status, ...outcome }).finish());
  },
  deserialize(bytes) {
    const wire = v1.FollowMessage.decode(bytes);
    const attempt = wire.attempt ?? 0;
    // An unset bytes field is decoded as an empty list; the name of the oneof says which field is set.
    if (wire.body === "status") return { type: "status", attempt, status: toBytes(wire.status) };
    if (wire.body === "outcome") return { type: "outcome", attempt, outcome: toBytes(wire.outcome) };
    return { type: "unknown", attempt };
  },
};

export const readLogRequest: Codec<ReadLogRequest> = {
  serialize: (request) => toBuffer(v1.ReadLogRequest.encode(request).finish()),
  deserialize(bytes) {
    const wire = v1.ReadLogRequest.decode(bytes);
    return {
      hello: decodeHello(wire.hello),
      task: wire.task ?? "",
      stream: decodeLogStream(wire.stream),
      offset: toNumber(wire.offset),
      follow: wire.follow ?? false,
    };
  },
};

export const logChunk: Codec<LogChunk> = {
  serialize: (chunk) => toBuffer(v1.LogChunk.encode(encodeLogChunk(chunk)).finish()),
  deserialize: (bytes) => decodeLogChunk(v1.LogChunk.decode(bytes)),
};

export const stopRequest: Codec<StopRequest> = {
  serialize: (request) => toBuffer(v1.StopRequest.encode(request).finish()),
  deserialize(bytes) {
    const wire = v1.StopRequest.decode(bytes);
    return { hello: decodeHello(wire.hello), reason: wire.reason ?? "" };
  },
};

export const stopReply: Codec<StopReply> = {
  serialize: (reply) => toBuffer(v1.StopReply.encode(reply).finish()),
  deserialize: (bytes) => ({ accepted: v1.StopReply.decode(bytes).accepted ?? false }),
};

export const storeRequest: Codec<StoreRequest> = {
  serialize({ hello, transaction, owner = "", durable }) {
    const wire = { hello, transaction: storeTransaction.encode(transaction), owner, durable };
    return toBuffer(v1.StoreRequest.encode(wire).finish());
  },
  deserialize(bytes) {
    const { hello, transaction, owner = "", durable = false } = v1.StoreRequest.decode(bytes);
    return {
      hello: decodeHello(hello),
      transaction: storeTransaction.decode(toBytes(transaction)),
      ...(owner === "" ? {} : { owner }),
      durable,
    };
  },
};

export const storeReply: Codec<StoreAnswer> = {
  serialize: (answer) => toBuffer(v1.StoreReply.encode({ answer: storeAnswer.encode(answer) }).finish()),
  deserialize: (bytes) => storeAnswer.decode(toBytes(v1.StoreReply.decode(bytes).answer)),
};

export const rejoinRequest: Codec<RejoinRequest> = {
  serialize: ({ hello, attempt, masterAddress }) =>
    toBuffer(v1.RejoinRequest.encode({ hello, attempt, masterAddress }).finish()),
  deserialize(bytes) {
    const wire = v1.RejoinRequest.decode(bytes);
    return { hello: decodeHello(wire.hello), attempt: wire.attempt ?? 0, masterAddress: wire.masterAddress ?? "" };
  },
};

export const rejoinReply: Codec<RejoinReply> = {
  serialize: (reply) => toBuffer(v1.RejoinReply.encode(reply).finish()),
  deserialize(bytes) {
    const wire = v1.RejoinReply.decode(bytes);
    return { accepted: wire.accepted ?? false, reason: wire.reason ?? "" };
  },
};
