/**
 * Gives protobufjs `long`, which it loads by a dynamic require that bundlers cannot see; without it 64-bit numbers would be rounded
 * silently. Generated modules read it when they load, so this module has to be imported before them.
 */
import Long from "long";
import protobuf from "protobufjs/minimal.js";

protobuf.util.Long = Long;
protobuf.configure();
