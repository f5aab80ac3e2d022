import { createRequire } from "node:module";
import path from "node:path";
import protobuf from "protobufjs";

const proto = path.resolve(import.meta.dirname, "../../proto/tony");
const require = createRequire(import.meta.url);

/** proto/tony as protobufjs reads it. */
export async function tonyProto(): Promise<protobuf.Namespace> {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) =>
    target.startsWith("google/") ? require.resolve(`protobufjs/${target}`) : path.join(proto, path.basename(target));
  return (await root.load("status.proto")).resolveAll();
}
