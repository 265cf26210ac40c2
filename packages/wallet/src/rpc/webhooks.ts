/** Deliveries of the service's events. Declarations: @anulo/rpc wallet/webhooks. */
import { wallet as declared, implementFor, scopeRefusal } from "@anulo/rpc";
import { WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";
import type { ServiceWebhooks } from "../service-events.ts";

/** Maximum number that the log returns at once. */
const LETTERS_AT_ONCE = 100;

/**
 * Runs a task with the service's webhooks. Throws `WalletRefusal` if there are none, and for values they don't accept.
 */
async function within<T>(
  { service: { serviceEvents } }: Pick<WalletContext, "service">,
  task: (webhooks: ServiceWebhooks) => Promise<T>,
): Promise<T> {
  if (typeof serviceEvents === "string") throw new WalletRefusal("UNKNOWN_ERROR", serviceEvents);
  try {
    return await task(serviceEvents.webhooks);
  } catch (error) {
    if (error instanceof RangeError) throw new WalletRefusal("UNKNOWN_ERROR", error.message);
    throw error;
  }
}

/** Throws `RpcError` for a token that may not read events: a caller that has them sent to its own URL reads them. */
function checkReads(call: string, { token }: Pick<WalletContext, "token">): void {
  const refusal = scopeRefusal({ scope: "read" }, call, token);
  if (refusal !== undefined) throw refusal;
}

export const webhookHandlers = implementFor<WalletContext>()(declared.webhooks, {
  addWebhook: ({ url, wallets, events, secret, after }, context) =>
    within(context, async (webhooks) => {
      checkReads("add_webhook", context);
      const added = await webhooks.add({
        url,
        wallets,
        types: events,
        ...(secret !== undefined && { secret }),
        ...(after !== undefined && { after }),
      });
      return { webhook_id: added.id, secret: added.secret };
    }),
  listWebhooks: (_, context) =>
    within(context, async (webhooks) => ({
      webhooks: (await webhooks.list()).map(({ id, types, nextAttempt, ...webhook }) => ({
        ...webhook,
        webhook_id: id,
        wallets: [...webhook.wallets],
        events: [...types],
        next_attempt: nextAttempt,
      })),
    })),
  removeWebhook: ({ webhook_id }, context) =>
    within(context, async (webhooks) => {
      if (!(await webhooks.remove(webhook_id))) throw new RangeError("there is no such webhook");
      return {};
    }),
  enableWebhook: ({ webhook_id }, context) =>
    within(context, async (webhooks) => {
      await webhooks.enable(webhook_id);
      return {};
    }),
  listDeadLetters: ({ webhook_id, after }, context) =>
    within(context, async (webhooks) => {
      const letters = await webhooks.deadLetters(webhook_id, after);
      return {
        dead_letters: letters.map(({ time, ...letter }) => ({ ...letter, timestamp: time })),
        more: letters.length === LETTERS_AT_ONCE,
      };
    }),
  replayDeadLetters: ({ webhook_id }, context) =>
    within(context, async (webhooks) => {
      checkReads("replay_dead_letters", context);
      return await webhooks.replay(webhook_id);
    }),
});
