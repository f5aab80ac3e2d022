/** Whether a parsed JSON value is an object, whose fields are then unknown. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
