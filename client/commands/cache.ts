import { ExitCode, usageError } from "../../src/errors.ts";
import { parseDurationMs } from "../../src/hadoop/conf/values.ts";
import { countWords, sizeWords } from "../../src/job/reasons/words.ts";
import { settingOptions } from "../command-line/application-options.ts";
import { defineCommand, defineGroup, jsonOption } from "../command-line/command.ts";
import { formatDate, formatTable } from "../output/format.ts";
import type { CacheListJson, CachePruneJson } from "../printed-json.ts";

const list = defineCommand({
  verb: "list",
  summary: "List the files the cluster keeps between jobs, least recently used first",
  positionals: {},
  options: { ...settingOptions, ...jsonOption },
  examples: [["cache list", "Each file with its size and when it was last used"]],
  run: async ({ conf, json }, context) => {
    const { withCache } = await import("../shipping/cache-access.ts");
    const { cachesOf, listCache } = await import("../shipping/cache-prune.ts");
    return await withCache(conf, context, async ({ cache }) => {
      const caches = cachesOf(cache);
      const files = (await Promise.all(caches.map((one) => listCache(one)))).flat();
      if (json) {
        context.output.json({ files } satisfies CacheListJson);
        return ExitCode.succeeded;
      }
      const rows = files.map(({ name, sha256, owner, sizeBytes, lastUseMs, partial }) => [
        partial ? `${name} (unfinished)` : name,
        sha256.slice(0, 12),
        owner,
        sizeWords(sizeBytes),
        formatDate(lastUseMs),
      ]);
      const total = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      const lines = formatTable([["name", "content", "owner", "size", "last use"], ...rows]);
      context.output.print(
        [
          ...lines,
          `${countWords(files.length, "file")}, ${sizeWords(total)} in ${caches.map(({ root }) => root).join(" and ")}`,
        ].join("\n"),
      );
      return ExitCode.succeeded;
    });
  },
});

const prune = defineCommand({
  verb: "prune",
  summary: "Remove files that no job uses and that were not used lately",
  positionals: {},
  options: {
    "unused-for": {
      type: "string",
      default: "30d",
      describe: "Keep what was used within this time, 2h at least: 12h, 30d",
    },
    "dry-run": { type: "boolean", default: false, describe: "Show what would be removed; remove nothing" },
    ...settingOptions,
    ...jsonOption,
  },
  examples: [["cache prune --dry-run", "Show what would be removed, and its size"]],
  run: async ({ conf, json, "unused-for": unusedFor, "dry-run": dryRun }, context) => {
    const unusedForMs = parseDurationMs(unusedFor, "s");
    if (unusedForMs === undefined)
      throw usageError(`--unused-for takes a duration such as 12h or 30d, not "${unusedFor}"`);
    const { withCache } = await import("../shipping/cache-access.ts");
    const { pruneCache } = await import("../shipping/prune-cache.ts");
    return await withCache(conf, context, async (access) => {
      const { removed, freedBytes } = await pruneCache(access, { unusedForMs, dryRun, nowMs: context.now() });
      if (json) context.output.json({ dryRun, freedBytes, removed } satisfies CachePruneJson);
      else {
        const verb = dryRun ? "Would remove" : "Removed";
        context.output.print(`${verb} ${countWords(removed.length, "file")}, ${sizeWords(freedBytes)}`);
      }
      return ExitCode.succeeded;
    });
  },
});

export const cache = defineGroup("cache", "Show and clean what the cluster keeps between jobs", [list, prune]);
