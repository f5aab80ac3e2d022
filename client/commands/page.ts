import { ExitCode, usageError } from "../../src/errors.ts";
import { openApplications } from "../applications/backend.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import { parsePort } from "../command-line/option-values.ts";
import type { PageJson } from "../printed-json.ts";

export const page = defineCommand({
  verb: "page",
  summary: "Show a running job's page on this machine, until Ctrl-C or the end of the job",
  positionals: { application: applicationArgument },
  options: {
    address: {
      type: "boolean",
      default: false,
      describe: "Print its address at YARN's proxy instead; anyone who has it can see the whole job",
    },
    "local-port": { type: "string", describe: "The local port; default: any free one" },
    ...settingOptions,
    ...jsonOption,
  },
  examples: [
    ["page application_1795305600000_0007", "Open the address that it prints in a browser"],
    ["page application_1795305600000_0007 --address", "Print an address that others can open, too"],
  ],
  run: async ({ application, address, "local-port": localPort, conf, json }, context) => {
    if (!address) {
      const { showPage } = await import("../sessions/show-page.ts");
      const port = localPort === undefined ? undefined : parsePort("--local-port", localPort);
      return await showPage(application, { localPort: port, json, conf }, context);
    }
    if (localPort !== undefined) throw usageError("--local-port is for a page on this machine: leave out --address");
    const { pageAddress } = await import("../sessions/page-address.ts");
    const applications = await openApplications(application, conf, context);
    try {
      const printed: PageJson = { applicationId: application, url: await pageAddress(application, applications) };
      if (json) context.output.json(printed);
      else context.output.print(printed.url);
      return ExitCode.succeeded;
    } finally {
      applications.close();
    }
  },
});
