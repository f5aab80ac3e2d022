/**
 * Gives protobufjs `long`, which it looks for by a dynamic require that bundlers do not see; without it 64-bit numbers would be rounded
 * in silence. Generated modules read it as they load, so this one has to be imported before them.
 */
import Long from "long";
import protobuf from "protobufjs/minimal.js";

protobuf.util.Long = Long;
protobuf.configure();
