/** The text that Java writes where there is none, and that an unset field reads as. */
const notAvailable = "N/A";

/** A text of a message; empty where there is none. */
export function textFromWire(text: string | null | undefined): string {
  return text === notAvailable ? "" : (text ?? "");
}
