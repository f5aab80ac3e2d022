import { ExitCode, usageError } from "../../src/errors.ts";
import { settingOptions } from "../command-line/application-options.ts";
import { defineCommand } from "../command-line/command.ts";

/** The port of TonY's portal. */
const usualPort = 19_886;

export const portal = defineCommand({
  verb: "portal",
  summary: "Serve web pages about the jobs of a history, running and ended, on this machine",
  positionals: {},
  options: {
    port: { type: "number", default: usualPort, describe: "Where it listens, on 127.0.0.1; 0: any free port" },
    "user-header": { type: "string", describe: "The header in which the proxy names the user" },
    proxy: { type: "string", array: true, describe: "Address of a proxy that logs people in; may be repeated" },
    listen: { type: "string", describe: "Listen on this address instead of 127.0.0.1; people have to log in there" },
    maintain: {
      type: "boolean",
      describe: "Also move the histories of ended jobs, and remove old ones (tony.history.*)",
    },
    "dry-run": { type: "boolean", describe: "Print what --maintain would move and remove, and exit" },
    ...settingOptions,
  },
  examples: [
    ["portal", "Open the address that it prints; Ctrl-C ends it"],
    ["portal --conf tony.history.location=hdfs:///shared/tony-history", "Of another history than the site's"],
    ["portal --dry-run", "What --maintain would move and remove"],
  ],
  run: async ({ port, conf, maintain, "dry-run": dryRun, ...options }, context) => {
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw usageError("--port takes a port: 0 to 65535");
    const { portalProxies, runPortal } = await import("../results/portal.ts");
    const upkeep = dryRun === true ? "dry-run" : maintain === true ? "whole" : "none";
    const what = { proxies: portalProxies(options), listen: options.listen, upkeep } as const;
    return (await runPortal(port, conf ?? [], what, context)) ?? ExitCode.unknown;
  },
});
