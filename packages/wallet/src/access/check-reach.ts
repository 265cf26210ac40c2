/** Whether a token is for what a call is about. */
import { type Call, FORBIDDEN, RpcError, wrongWallet } from "@anulo/rpc";
import { capped } from "./spending-book.ts";
import type { LiveToken } from "./token-book.ts";

/** What a call is made on. */
export type Place = {
  /** What the path names; undefined on the path without a name. */
  readonly name: string | undefined;
  /** Name of the wallet that is open there, "" for one without files; undefined where none is. */
  readonly openName: string | undefined;
};

/** The call, with its params as they were read. */
type Made = {
  readonly call: Pick<Call, "name" | "reach" | "needs" | "isUncounted">;
  readonly params: unknown;
};

/** Throws `RpcError`, which does not tell whether there is a wallet that the token is not for. */
export function checkReach({ call, params }: Made, place: Place, token: LiveToken): void {
  const refusal = refusalOf({ call, params }, place, token);
  if (refusal === undefined) return;
  token.onRefused(call.name);
  throw refusal;
}

function refusalOf({ call, params }: Made, place: Place, token: LiveToken): RpcError | undefined {
  if (call.isUncounted === true && token.isCapped)
    return capped("sign or send what can't be counted: it has a cap");
  switch (call.reach) {
    case "nothing":
      return undefined;
    case "service":
      return token.isForAll ? undefined : notForAll();
    case "filename": {
      // What is opened takes the place of what is open here.
      const { filename } = params as { readonly filename: string };
      return mayUseOpen(place, token) && mayUseFile(filename, place, token) ? undefined : wrongWallet();
    }
    case "wallet":
      // Without a wallet, what does not need one is about those to come.
      if (place.openName === undefined && !call.needs.includes("openWallet") && place.name === undefined)
        return token.isForAll ? undefined : notForAll();
      return mayUseOpen(place, token) ? undefined : wrongWallet();
  }
}

/** A path of a wallet is for that wallet, open or not. */
function mayUseOpen({ name, openName }: Place, token: LiveToken): boolean {
  const about = name ?? openName;
  return about === undefined || token.mayUse(about);
}

function mayUseFile(filename: string, { name }: Place, token: LiveToken): boolean {
  return token.mayUse(filename === "" ? (name ?? "") : filename);
}

const notForAll = () => new RpcError(FORBIDDEN, "Forbidden: this takes a token of all wallets");
