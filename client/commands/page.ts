import { ExitCode } from "../../src/errors.ts";
import { openApplications } from "../applications/backend.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import type { PageJson } from "../printed-json.ts";

export const page = defineCommand({
  verb: "page",
  summary: "Print the address of a running job's page, which shows all of it to whoever has the address",
  positionals: { application: applicationArgument },
  options: { ...settingOptions, ...jsonOption },
  examples: [["page application_1795305600000_0007", "Open it in a browser; the job needs tony.am.page.enabled=true"]],
  run: async ({ application, conf, json }, context) => {
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
