/** The service rejected a call with an error object. */
export class RemoteError extends Error {
  readonly call: string;
  readonly code: number;

  constructor(call: string, code: number, message: string) {
    super(message);
    this.name = "RemoteError";
    this.call = call;
    this.code = code;
  }
}

/** The service's response does not match its declaration. */
export class BadAnswer extends Error {
  readonly call: string;

  constructor(call: string, message: string) {
    super(`${call}: ${message}`);
    this.name = "BadAnswer";
    this.call = call;
  }
}

/** No response: refused, cut off, too late, or too long. It is not known whether the call took effect. */
export class ConnectionFailed extends Error {
  readonly call: string;

  constructor(call: string, message: string, options?: { cause: unknown }) {
    super(`${call}: ${message}`, options);
    this.name = "ConnectionFailed";
    this.call = call;
  }
}
