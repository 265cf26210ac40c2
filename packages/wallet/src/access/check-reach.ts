/** Whether a token covers the wallets that a call is about. */
import { type Call, FORBIDDEN, RpcError, wrongWallet } from "@anulo/rpc";
import { capped } from "./spending-book.ts";
import type { LiveToken } from "./token-book.ts";

/** Where a call is made. */
export type Place = {
  /** The wallet in the path; undefined on the path without a name. */
  readonly name: string | undefined;
  /** Name of the wallet that is open there, "" for one without files; undefined if none is open. */
  readonly openName: string | undefined;
};

/** The call, with its parsed params. */
type Made = {
  readonly call: Pick<Call, "name" | "reach" | "needs" | "isUncounted">;
  readonly params: unknown;
};

/**
 * Throws `RpcError`, which does not reveal whether a wallet outside the token's reach exists. This also refuses a token
 * that became invalid after its request came in, for example during a batch.
 */
export function checkReach({ call, params }: Made, place: Place, token: LiveToken): void {
  const refusal = refusalOf({ call, params }, place, token);
  if (refusal === undefined) return;
  token.onRefused(call.name);
  throw refusal;
}

function refusalOf({ call, params }: Made, place: Place, token: LiveToken): RpcError | undefined {
  if (!token.isValid) return new RpcError(FORBIDDEN, "Forbidden: this token has ended");
  if (call.isUncounted === true && token.isCapped)
    return capped("sign or send what can't be counted: it has a cap");
  if (token.isCapped && (params as { readonly do_not_relay?: unknown } | undefined)?.do_not_relay === true)
    return capped("have anything signed that is not sent: it has a cap");
  switch (call.reach) {
    case "nothing":
      return undefined;
    case "service":
      return token.isForAll ? undefined : notForAll();
    case "filename": {
      // The wallet that is opened replaces the one that is open here, so the token must cover both.
      const { filename } = params as { readonly filename: string };
      return mayUseOpen(place, token) && mayUseFile(filename, place, token) ? undefined : wrongWallet();
    }
    case "wallet":
      // If no wallet is open, a call that does not need one is about wallets opened later, so the token must cover all.
      if (place.openName === undefined && !call.needs.includes("openWallet") && place.name === undefined)
        return token.isForAll ? undefined : notForAll();
      return mayUseOpen(place, token) ? undefined : wrongWallet();
  }
}

/** A wallet's path is about that wallet, whether it is open or not. */
function mayUseOpen({ name, openName }: Place, token: LiveToken): boolean {
  if (name !== undefined) return token.mayUse(name);
  return openName === undefined || token.covers(openName);
}

function mayUseFile(filename: string, { name }: Place, token: LiveToken): boolean {
  return token.mayUse(filename === "" ? (name ?? "") : filename);
}

const notForAll = () => new RpcError(FORBIDDEN, "Forbidden: this takes a token of all wallets");
