/**
 * Typed look-ups over the messages and services generated from proto/hadoop. Nothing outside src/hadoop sees these types.
 *
 * The one cast: the generated declarations describe `hadoop.yarn.X`, but protobufjs makes only names with a capital letter
 * properties, so `hadoop.yarn` is undefined at run time. A namespace is looked up by its path and given its declared type.
 */
import Long from "long";
import protobuf from "protobufjs/light.js";
import root, { type hadoop } from "./generated/hadoop.js";

// protobufjs looks for `long` by a dynamic require that bundlers do not see; without it 64-bit numbers would be rounded in silence.
protobuf.util.Long = Long;
protobuf.configure();

function namespace<Declared>(path: string): Declared {
  return root.lookup(path) as unknown as Declared;
}

export const common = namespace<typeof hadoop.common>("hadoop.common");
export const yarn = namespace<typeof hadoop.yarn>("hadoop.yarn");
export type { hadoop };
