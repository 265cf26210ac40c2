import { protocolErrorCodes, walletErrorCodes } from "./generated/error-codes.ts";
import type { Json } from "./json.ts";

/** Names of the codes by which a wallet service refuses calls. */
export type WalletErrorKind = keyof typeof walletErrorCodes;
/** Names of the codes of JSON-RPC. */
export type ProtocolErrorKind = keyof typeof protocolErrorCodes;

export type ErrorKind = WalletErrorKind | ProtocolErrorKind;

/** Where an error came about: the call, and the key of a payment that can be repeated with it. */
export type ErrorContext = { readonly call: string; readonly idempotencyKey?: string | undefined };

/** What all errors of a client have. */
export abstract class AnuloError extends Error {
  /** The call or path. */
  readonly call: string;
  /** The key the call was made with: repeated with it and the same params it pays no second time, on a service that keeps keys. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, { call, idempotencyKey }: ErrorContext, options?: ErrorOptions) {
    super(`${call}: ${message}`, options);
    this.call = call;
    this.idempotencyKey = idempotencyKey;
  }
}

/** The service refused a call with an error object. */
export class RpcError extends AnuloError {
  readonly code: number;
  /** Name of the code; undefined for one that is not known, or that of a node. */
  readonly kind: ErrorKind | undefined;
  /** The error object's own message. */
  readonly reason: string;
  /** What the error object has for programs. */
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

/** The service answered with a status of HTTP that is no success: 401 where it refuses the login. */
export class HttpError extends AnuloError {
  readonly status: number;
  /** Seconds after which the service wants to be asked again; undefined where it does not say. */
  readonly retryAfter: number | undefined;

  constructor(status: number, context: ErrorContext & { readonly retryAfter?: number | undefined }) {
    super(`status ${status}`, context);
    this.name = "HttpError";
    this.status = status;
    this.retryAfter = context.retryAfter;
  }
}

/** The service answered something else than its declaration says. */
export class BadAnswer extends AnuloError {
  constructor(message: string, context: ErrorContext) {
    super(message, context);
    this.name = "BadAnswer";
  }
}

/** No answer: refused, cut off or too late. Whether the call took effect is not known. */
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
