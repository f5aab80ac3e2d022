/** Typed look-ups over the messages and services generated from proto/hadoop. Nothing outside src/hadoop sees these types. */
import Long from "long";
import protobuf from "protobufjs/light.js";
import { declared } from "./declared.ts";
import root, { type hadoop } from "./generated/hadoop.js";
import { WireService } from "./service.ts";

// protobufjs looks for `long` by a dynamic require that bundlers do not see; without it 64-bit numbers would be rounded in silence.
protobuf.util.Long = Long;
protobuf.configure();

export const common = declared<typeof hadoop.common>(root.lookup("hadoop.common"));
export const yarn = declared<typeof hadoop.yarn>(root.lookup("hadoop.yarn"));

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
