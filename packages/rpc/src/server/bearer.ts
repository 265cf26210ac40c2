/** Authentication of callers by tokens, beside the login or instead of it. Source: RFC 6750. */
import type { Call } from "../define.ts";
import { RpcError } from "../errors.ts";
import type { NeededScope } from "../scope.ts";

/** The sender of a request, according to its token. */
export interface Bearer {
  /** Identifies the token; not secret. */
  readonly id: string;
  /** Aborted when the token is revoked. */
  readonly ended: AbortSignal;
  /** Whether the token allows calls of this scope; undefined: calls that no token allows. */
  allows(scope: NeededScope | undefined): boolean;
  /** Whether the token allows the wallet or other object in a named path. */
  mayUse(name: string): boolean;
  /** Called with the call or path that was rejected. */
  onRefused(what: string): void;
}

/** Checks tokens. */
export interface TokenAuth {
  /** Undefined for text that is not a token, and also for an unknown, expired or revoked one. */
  check(token: string): Bearer | undefined;
}

/** Our own code, after the HTTP code with the same meaning. */
export const FORBIDDEN = -403;

const SCHEME = /^bearer +/i;

/** The token in an Authorization header; undefined if another scheme is used. */
export function tokenOf(authorization: string | undefined): string | undefined {
  const scheme = authorization === undefined ? null : SCHEME.exec(authorization);
  return scheme === null ? undefined : authorization!.slice(scheme[0].length);
}

/** Value of the WWW-Authenticate header that requests a token. */
export function bearerChallenge(authorization: string | undefined): string {
  const error = tokenOf(authorization) === undefined ? "" : ',error="invalid_token"';
  return `Bearer realm="anulo"${error}`;
}

/** The error for a request whose token does not allow it; undefined if it is allowed. */
export function scopeRefusal(
  { scope }: Pick<Call, "scope">,
  name: string,
  bearer: Bearer | undefined,
): RpcError | undefined {
  if (bearer === undefined || bearer.allows(scope)) return undefined;
  bearer.onRefused(name);
  if (scope === undefined) return new RpcError(FORBIDDEN, "Forbidden: no token allows this");
  return new RpcError(FORBIDDEN, `Forbidden: this token lacks the scope ${scope}`, { scope });
}

/** The same error for a wallet: it does not reveal whether a wallet of this name exists. */
export function wrongWallet(): RpcError {
  return new RpcError(FORBIDDEN, "Forbidden: this token is not for this wallet");
}
