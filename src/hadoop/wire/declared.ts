import type protobuf from "protobufjs/light.js";

/**
 * Gives a reflected object the type that the generated declarations state for it: the one cast of the wire layer. They describe
 * `hadoop.yarn.X`, but protobufjs makes only names with a capital letter properties, so `hadoop.yarn` is undefined at run time and
 * everything has to be looked up by its path.
 */
export function declared<Declared>(object: protobuf.ReflectionObject | null): Declared {
  return object as unknown as Declared;
}
