/** Tokens of the service. Declarations: @anulo/rpc wallet/tokens. */
import { wallet as declared, implementFor } from "@anulo/rpc";
import type { Access } from "../access/access.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";

const refuse = (why: string) => new WalletRefusal("UNKNOWN_ERROR", why);

/** Throws `WalletRefusal` if the service accepts no tokens. */
function accessOf({ service }: Pick<WalletContext, "service">): Access {
  if (service.access === undefined) throw refuse("The service takes no tokens: start it with --tokens");
  return service.access;
}

export const tokenHandlers = implementFor<WalletContext>()(declared.tokens, {
  async createToken({ name, scopes, wallets, valid_for, cap_hour, cap_day }, context) {
    const order = {
      name,
      scopes,
      wallets,
      validSeconds: Number(valid_for),
      capHour: cap_hour,
      capDay: cap_day,
    };
    const { id, text } = await accessOf(context).tokens.create(order, context.token);
    return { token_id: id, token: text };
  },
  listTokens(_, context) {
    const { tokens, spending } = accessOf(context);
    return {
      tokens: tokens.list().map(({ id, capHour, capDay, lastUsed, ...record }) => {
        const { hour, day } = spending.spentBy(id);
        const { name, scopes, wallets, created, expires, revoked } = record;
        return {
          token_id: id,
          name,
          scopes: [...scopes],
          wallets: [...wallets],
          created,
          expires,
          revoked,
          last_used: lastUsed,
          cap_hour: capHour,
          cap_day: capDay,
          spent_hour: hour,
          spent_day: day,
        };
      }),
    };
  },
  async revokeToken({ token_id }, context) {
    if (!(await accessOf(context).tokens.revoke(token_id, context.token)))
      throw refuse("there is no such token");
    return {};
  },
});
