import { protocolErrorCodes, walletErrorCodes } from "./generated/error-codes.ts";
import type { Json } from "./json.ts";

/** Names of the error codes of a wallet service. */
export type WalletErrorKind = keyof typeof walletErrorCodes;
/** Names of the codes of JSON-RPC. */
export type ProtocolErrorKind = keyof typeof protocolErrorCodes;

export type ErrorKind = WalletErrorKind | ProtocolErrorKind;

/** The call that caused an error, and the key with which a payment can be repeated. */
export type ErrorContext = { readonly call: string; readonly idempotencyKey?: string | undefined };

/** The base class of all errors of a client. */
export abstract class AnuloError extends Error {
  /** The name or path of the call. */
  readonly call: string;
  /**
   * The key of the call: a call repeated with it and the same params does not pay again, if the service supports keys.
   */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, { call, idempotencyKey }: ErrorContext, options?: ErrorOptions) {
    super(`${call}: ${message}`, options);
    this.call = call;
    this.idempotencyKey = idempotencyKey;
  }
}

/** The service rejected a call with an error object. */
export class RpcError extends AnuloError {
  readonly code: number;
  /** Name of the code; undefined for an unknown code, or one of a node. */
  readonly kind: ErrorKind | undefined;
  /** The error object's own message. */
  readonly reason: string;
  /** Additional data of the error object. */
  readonly data: Json | undefined;

  constructor(
    { code, message, data }: { readonly code: number; readonly message: string; readonly data?: Json },
    { kinds, ...context }: ErrorContext & { readonly kinds: ReadonlyMap<number, ErrorKind> },
  ) {
    super(`${message} (${code})`, context);
    this.name = "RpcError";
    this.code = code;
    this.kind = kinds.get(code);
    this.reason = message;
    this.data = data;
  }
}

/** The service returned an HTTP status other than success: 401 if it rejects the login. */
export class HttpError extends AnuloError {
  readonly status: number;
  /** Seconds after which the request may be repeated; undefined if the service does not specify them. */
  readonly retryAfter: number | undefined;

  constructor(status: number, context: ErrorContext & { readonly retryAfter?: number | undefined }) {
    super(`status ${status}`, context);
    this.name = "HttpError";
    this.status = status;
    this.retryAfter = context.retryAfter;
  }
}

/** The service's response does not match its declaration. */
export class BadAnswer extends AnuloError {
  constructor(message: string, context: ErrorContext) {
    super(message, context);
    this.name = "BadAnswer";
  }
}

/** No response: refused, cut off or too late. It is not known whether the call took effect. */
export class ConnectionFailed extends AnuloError {
  constructor(message: string, context: ErrorContext, options?: ErrorOptions) {
    super(message, context, options);
    this.name = "ConnectionFailed";
  }
}

const kindsOf = (codes: Readonly<Record<string, number>>) =>
  Object.entries(codes).map(([kind, code]) => [code, kind as ErrorKind] as const);

export const protocolKinds: ReadonlyMap<number, ErrorKind> = new Map(kindsOf(protocolErrorCodes));
export const walletKinds: ReadonlyMap<number, ErrorKind> = new Map([
  ...kindsOf(walletErrorCodes),
  ...protocolKinds,
]);
