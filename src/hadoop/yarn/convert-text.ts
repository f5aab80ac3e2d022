/** What Java says, and what an unset field reads as, where there is nothing to say. */
const notAvailable = "N/A";

/** A text of a message; empty where there is none. */
export function textFromWire(text: string | null | undefined): string {
  return text === notAvailable ? "" : (text ?? "");
}
