import { decodeHello } from "./common-codec.ts";
import type { SessionInput, SessionOutput, SessionWanted, Terminal, TerminalSize } from "./session-messages.ts";
import { type Codec, toBuffer, toBytes, toNumber, type tony, v1 } from "./wire.ts";

export const sessionInput: Codec<SessionInput> = {
  serialize: (message) => toBuffer(v1.SessionInput.encode(encodeInput(message)).finish()),
  deserialize(bytes) {
    const { body, open, data, resize, signal } = v1.SessionInput.decode(bytes);
    switch (body) {
      case "open":
        return decodeOpen(open ?? {});
      case "data":
        return { type: "data", data: toBytes(data) };
      case "end":
        return { type: "end" };
      case "resize":
        return { type: "resize", size: decodeSize(resize) };
      case "signal":
        return { type: "signal", signal: signal ?? "" };
      default:
        return { type: "unknown" };
    }
  },
};

export const sessionOutput: Codec<SessionOutput> = {
  serialize: (message) => toBuffer(v1.SessionOutput.encode(encodeOutput(message)).finish()),
  deserialize(bytes) {
    const { body, accept, started, stdout, stderr, exited, failed, noSuchTask } = v1.SessionOutput.decode(bytes);
    switch (body) {
      case "accept":
        return { type: "accept", sessionId: toNumber(accept) };
      case "started":
        return { type: "started", terminal: started?.terminal ?? false };
      case "stdout":
        return { type: "data", stream: "stdout", data: toBytes(stdout) };
      case "stderr":
        return { type: "data", stream: "stderr", data: toBytes(stderr) };
      case "end":
        return { type: "end" };
      case "exited":
        return { type: "exited", exitCode: exited?.exitCode ?? 0, signal: exited?.signal ?? "" };
      case "failed":
        return { type: "failed", reason: failed ?? "" };
      case "noSuchTask":
        return { type: "failed", reason: noSuchTask ?? "", noSuchTask: true };
      default:
        return { type: "unknown" };
    }
  },
};

function encodeInput(message: SessionInput): tony.v1.SessionInput.$Properties {
  switch (message.type) {
    case "open":
      return { open: { hello: message.hello, task: message.task, ...encodeWanted(message.wanted) } };
    case "data":
      return { data: message.data };
    case "end":
      return { end: {} };
    case "resize":
      return { resize: message.size };
    case "signal":
      return { signal: message.signal };
    case "unknown":
      return {};
  }
}

function encodeWanted(wanted: SessionWanted): tony.v1.OpenSession.$Properties {
  if (wanted.type === "connection") return { connection: { port: wanted.port } };
  if (wanted.type === "stacks") return { stacks: {} };
  const { words, terminal } = wanted;
  return { command: { words: [...words], ...(terminal && { terminal }) } };
}

function decodeOpen(wire: tony.v1.OpenSession.$Properties): SessionInput {
  const { command, connection, stacks } = wire;
  const open = { type: "open", hello: decodeHello(wire.hello), task: wire.task ?? "" } as const;
  if (command)
    return { ...open, wanted: { type: "command", words: command.words ?? [], ...decodeTerminal(command.terminal) } };
  if (connection) return { ...open, wanted: { type: "connection", port: connection.port ?? 0 } };
  if (stacks) return { ...open, wanted: { type: "stacks" } };
  return { type: "unknown" };
}

function decodeTerminal(wire: tony.v1.Terminal.$Properties | null | undefined): { readonly terminal?: Terminal } {
  return wire ? { terminal: { size: decodeSize(wire.size), type: wire.type ?? "" } } : {};
}

function decodeSize(wire: tony.v1.TerminalSize.$Properties | null | undefined): TerminalSize {
  return { columns: wire?.columns ?? 0, rows: wire?.rows ?? 0 };
}

function encodeOutput(message: SessionOutput): tony.v1.SessionOutput.$Properties {
  switch (message.type) {
    case "accept":
      return { accept: message.sessionId };
    case "started":
      return { started: { terminal: message.terminal } };
    case "data":
      return message.stream === "stdout" ? { stdout: message.data } : { stderr: message.data };
    case "end":
      return { end: {} };
    case "exited":
      return { exited: { exitCode: message.exitCode, signal: message.signal } };
    case "failed":
      return message.noSuchTask === true ? { noSuchTask: message.reason } : { failed: message.reason };
    case "unknown":
      return {};
  }
}
