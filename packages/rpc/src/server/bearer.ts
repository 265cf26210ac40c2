/** Tokens by which callers are known, beside the login or in its place. Source: RFC 6750. */
import type { Call } from "../define.ts";
import { RpcError } from "../errors.ts";
import type { NeededScope } from "../scope.ts";

/** Who sent a request, as its token says. */
export interface Bearer {
  /** Tells tokens apart, and is no secret. */
  readonly id: string;
  /** Aborted when the token is revoked. */
  readonly ended: AbortSignal;
  /** Whether the token allows what needs this scope; undefined: what no token allows. */
  allows(scope: NeededScope | undefined): boolean;
  /** Whether it may use what a named path names. */
  mayUse(name: string): boolean;
  /** Told what it was refused: a call or path. */
  onRefused(what: string): void;
}

/** Knows tokens. */
export interface TokenAuth {
  /** Undefined for a text that is no token, and alike for one that is unknown, expired or revoked. */
  check(token: string): Bearer | undefined;
}

/** Ours, by the HTTP code that says the same. */
export const FORBIDDEN = -403;

const SCHEME = /^bearer +/i;

/** The token in a header Authorization; undefined where another scheme is used. */
export function tokenOf(authorization: string | undefined): string | undefined {
  const scheme = authorization === undefined ? null : SCHEME.exec(authorization);
  return scheme === null ? undefined : authorization!.slice(scheme[0].length);
}

/** Value of the header WWW-Authenticate that asks for a token. */
export function bearerChallenge(authorization: string | undefined): string {
  const error = tokenOf(authorization) === undefined ? "" : ',error="invalid_token"';
  return `Bearer realm="anulo"${error}`;
}

/** How a request is refused whose token does not allow what it asks for; undefined where it may go on. */
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

/** The same for a wallet: it does not tell whether there is one of this name. */
export function wrongWallet(): RpcError {
  return new RpcError(FORBIDDEN, "Forbidden: this token is not for this wallet");
}
