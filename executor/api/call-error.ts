import { TonyError } from "../../src/errors.ts";

/** Why a call is not answered as it was asked. */
export class CallError extends TonyError {
  readonly status: number;

  constructor(status: number, code: string, message: string) {
    super(message, { code });
    this.status = status;
  }
}
