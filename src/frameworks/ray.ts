import { formatHostPort } from "../hadoop/conf/values.ts";
import { firstOf } from "./addresses.ts";
import { exactlyOne, type FrameworkDefinition, gangOnly } from "./framework.ts";
import type { rayVariables } from "./variables.ts";

const HEAD = "head";

/** `RAY_ADDRESS` tells `ray start` and `ray.init` where the cluster's head is; the head itself gets none, because it would join itself. */
export const ray: FrameworkDefinition<keyof typeof rayVariables> = {
  check: (job) => [...gangOnly(job, "Ray"), ...exactlyOne(job, HEAD, "the head of Ray's cluster")],
  environment: (task) => {
    const head = firstOf(task, HEAD);
    return head === undefined || task.role.name === HEAD ? undefined : { RAY_ADDRESS: formatHostPort(head) };
  },
};
