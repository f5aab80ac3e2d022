import type { FrameworkEnvironment } from "./framework.ts";

/** Programs that need not know of each other; the variables that every program gets are all they get. */
export const standalone: FrameworkEnvironment<never> = { environment: () => undefined };
