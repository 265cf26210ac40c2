import type { ExactObject } from "@anulo/devnet";
import { CallFailed } from "@anulo/devnet";
import type { Chance } from "../chance.ts";
import { demand, listOf, unlessRefused } from "../wallet/stage.ts";
import { chooseMishaps } from "./mishaps.ts";
import type { PayerWorld } from "./world.ts";

/** A call that spends. */
export type Order = { readonly key: string; readonly method: string; readonly params: ExactObject };

export type Paid = {
  readonly answer: ExactObject;
  /** How often it was asked, and what went wrong meanwhile. */
  readonly attempts: number;
  readonly mishaps: readonly string[];
};

/** Of one order; more would mean that it can't be paid. */
const MAX_ATTEMPTS = 40;

const idsIn = (list: readonly ExactObject[]): string[] => list.map(({ tx_hash }) => String(tx_hash)).sort();

/** A refusal names all that may be on its way. */
async function checkTold(world: PayerWorld, key: string, refusal: CallFailed): Promise<void> {
  const intent = await unlessRefused(world.ask("get_intent", { idempotency_key: key }));
  const intentIds = intent === undefined ? [] : idsIn(listOf(intent.transactions));
  const refusalIds = ((refusal.data.tx_hash_list ?? []) as string[]).toSorted();
  demand(
    refusalIds.join() === intentIds.join(),
    `refused (${refusal.message}), told of [${refusalIds}], kept [${intentIds}]`,
  );
  demand(intent?.state !== "failed", `refused for good: ${refusal.message}`);
}

/**
 * Repeats an order until it is answered, whatever breaks. Mishaps happen at the first attempts; then nobody is in the
 * way.
 */
export async function payUntilAnswered(world: PayerWorld, order: Order, chance: Chance): Promise<Paid> {
  const params = { ...order.params, idempotency_key: order.key };
  const mishaps: string[] = [];
  const troubled = chance.between(1, 3);
  for (let attempts = 1; attempts <= MAX_ATTEMPTS; attempts++) {
    const isTroubled = attempts <= troubled;
    // A node that is down is sometimes still down when the caller asks again.
    await (isTroubled && attempts > 1 && chance.happens(0.2) ? world.reviveService() : world.revive());
    if (chance.happens(0.5)) await unlessRefused(world.ask("refresh"));
    const trouble = isTroubled ? chooseMishaps(chance) : undefined;
    if (trouble !== undefined) mishaps.push(...trouble.names);
    const mishap = trouble?.happen(world, chance);
    const response = world.askOverLine(order.method, params).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    );
    const [outcome] = await Promise.all([response, mishap]);
    world.lines.payer.spare();
    world.lines.node.spare();
    if ("answer" in outcome) return { answer: outcome.answer, attempts, mishaps };
    if (outcome.error instanceof CallFailed && !world.service.isDead)
      await checkTold(world, order.key, outcome.error);
  }
  throw new Error(
    `${order.method} was asked ${MAX_ATTEMPTS} times, and never answered: ${mishaps.join(", ")}`,
  );
}
