import { amount, arrayOf, object, string } from "../shape.ts";
import { type KeyType, splitList } from "./types.ts";

/** A file whose facts for YARN the job itself states. */
export interface StatedFile {
  readonly url: string;
  readonly sizeBytes: number;
  readonly modificationTimeMs: number;
}

/** `URL SIZE TIME`, separated by commas if there are several. */
export const statedFiles: KeyType<readonly StatedFile[]> = {
  label: "list of URL SIZE TIME",
  shape: arrayOf(object({ required: { url: string, sizeBytes: amount, modificationTimeMs: amount }, optional: {} })),
  parse: (text) =>
    splitList(text).map((item) => {
      const [, url = "", size, time] = /^(\S+:\/\S+)\s+(-?\d+)\s+(\d+)$/.exec(item.trim()) ?? [];
      if (url !== "") return { url, sizeBytes: Number(size), modificationTimeMs: Number(time) };
      throw new RangeError(`URL SIZE TIME, such as gs://bucket/env.tar.gz 52428800 1718000000000, not "${item}"`);
    }),
};
