/** Whose budget pays for a failure. */
export type FailureClass = "program" | "infrastructure";
