/**
 * Typed look-ups over the messages and services generated from proto/hadoop. Nothing outside src/hadoop sees these types.
 *
 * The one cast: the generated declarations describe `hadoop.yarn.X`, but protobufjs makes only names with a capital letter
 * properties, so `hadoop.yarn` is undefined at run time. What a path names is looked up and given its declared type.
 */
import Long from "long";
import protobuf from "protobufjs/light.js";
import root, { type hadoop } from "./generated/hadoop.js";
import { WireService } from "./service.ts";

// protobufjs looks for `long` by a dynamic require that bundlers do not see; without it 64-bit numbers would be rounded in silence.
protobuf.util.Long = Long;
protobuf.configure();

function lookUp<Declared>(path: string): Declared {
  return root.lookup(path) as unknown as Declared;
}

export const common = lookUp<typeof hadoop.common>("hadoop.common");
export const yarn = lookUp<typeof hadoop.yarn>("hadoop.yarn");

/** YARN's three protocols. */
export const services = {
  applicationClient: new WireService<hadoop.yarn.ApplicationClientProtocolService>(
    root.lookupService("hadoop.yarn.ApplicationClientProtocolService"),
  ),
  applicationMaster: new WireService<hadoop.yarn.ApplicationMasterProtocolService>(
    root.lookupService("hadoop.yarn.ApplicationMasterProtocolService"),
  ),
  containerManagement: new WireService<hadoop.yarn.ContainerManagementProtocolService>(
    root.lookupService("hadoop.yarn.ContainerManagementProtocolService"),
  ),
};

export type { hadoop };
