import type { JsonObject } from "./json.ts";

/** A refusal the caller sees: a JSON-RPC error object with this code, message and data (HTTP 200). */
export class RpcError extends Error {
  readonly code: number;
  /** What programs read of it; left out where the message says all. */
  readonly data: JsonObject | undefined;

  constructor(code: number, message: string, data?: JsonObject) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
  }
}

/** A value of the wrong type or range: -32602 from a method, HTTP 400 from a plain path. */
export class BadRequest extends Error {
  /** Names from the outermost field to the one that does not fit. */
  readonly path: readonly string[];

  constructor(message: string, path: readonly string[] = []) {
    super(message);
    this.name = "BadRequest";
    this.path = path;
  }

  /** The same refusal seen from the record that holds `field`. */
  within(field: string): BadRequest {
    return new BadRequest(this.message, [field, ...this.path]);
  }
}

/** Codes JSON-RPC 2.0 reserves; messages as the original programs write them. */
export const protocolErrors = {
  parse: { code: -32700, message: "Parse error" },
  invalidRequest: { code: -32600, message: "Invalid Request" },
  methodNotFound: { code: -32601, message: "Method not found" },
  invalidParams: { code: -32602, message: "Invalid params" },
  internal: { code: -32603, message: "Internal error" },
  limitExceeded: { code: -32005, message: "Limit exceeded" },
  notImplemented: { code: -32000, message: "Method not implemented yet" },
} as const;
