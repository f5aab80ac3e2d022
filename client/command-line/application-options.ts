/** `--conf KEY=VALUE` of the verbs that take an application: says where its staging folder is, when it is not the default. */
export const settingOptions = {
  conf: {
    type: "string",
    array: true,
    describe: "A setting, such as tony.staging-dir=/shared/staging; may be repeated",
  },
} as const;

/** The argument of the verbs about one task of a running job. */
export const taskArgument = {
  describe: "worker:0, or of a search trial:17 or trial:17/worker:0",
  required: true,
} as const;

/** The argument of the verbs about one job. */
export const applicationArgument = {
  describe: "application_… or local_…",
  required: true,
  missing: "Which job? Give its id (tony-ts list)",
} as const;

/** For the verbs that may follow a job which was submitted elsewhere. */
export const ownOption = {
  type: "boolean",
  default: false,
  describe: "Ctrl-C and SIGTERM end a job that was submitted before; without it they leave it running",
} as const;
