import { costs } from "../costs.ts";
import { always, list, object, optional, or } from "../schema/composites.ts";
import { printable, text, u64, uint } from "../schema/scalars.ts";
import { nothing, onOwnService, walletMethod } from "./fields.ts";

const tokenId = printable(64);

/** Times in seconds since 1970, 0 for never; amounts in atomic units. */
const token = object({
  token_id: text,
  name: text,
  scopes: always(list(text)),
  /** Patterns of names, `*` for any characters. */
  wallets: always(list(text)),
  created: uint,
  expires: uint,
  revoked: uint,
  /** To the hour. */
  last_used: uint,
  /** The most it may spend in an hour and in a day, fees included; left out where there is no cap. */
  cap_hour: optional(u64),
  cap_day: optional(u64),
  /** What it has spent of a cap in the last hour and day. */
  spent_hour: u64,
  spent_day: u64,
});

/** Tokens, by which callers are known and bounded. */
export const tokens = {
  createToken: walletMethod({
    name: "create_token",
    scope: "admin",
    reach: "service",
    needs: onOwnService,
    summary: "Makes a token that allows what its scopes say; it is never shown again.",
    params: object({
      name: text,
      scopes: list(text),
      wallets: list(text),
      /** Seconds; 0 for ever. */
      valid_for: or(uint, 0),
      cap_hour: optional(u64),
      cap_day: optional(u64),
    }),
    result: object({ token_id: text, token: text }),
  }),
  listTokens: walletMethod({
    name: "list_tokens",
    reads: true,
    scope: "admin",
    reach: "service",
    needs: onOwnService,
    cost: costs.medium,
    summary: "Tokens, without their secrets, also those that ended in the last 30 days.",
    params: nothing,
    result: object({ tokens: always(list(token)) }),
  }),
  revokeToken: walletMethod({
    name: "revoke_token",
    scope: "admin",
    reach: "service",
    needs: onOwnService,
    summary: "Ends a token for good, and the streams that are open by it.",
    params: object({ token_id: tokenId }),
    result: nothing,
  }),
};
