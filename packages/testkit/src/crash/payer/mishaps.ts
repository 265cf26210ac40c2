import { setTimeout as delay } from "node:timers/promises";
import type { Chance } from "../chance.ts";
import type { PayerWorld } from "./world.ts";

/** Something that goes wrong while a call is under way; settles once it has. */
type Mishap = (world: PayerWorld, chance: Chance) => Promise<void>;

/** About as long as a payment takes, and its bytes on both lines. */
const PAYMENT_MS = 500;
const PAYER_BYTES = 2500;
const NODE_BYTES = 40_000;

/** Writes and syncs of the wallet's store that a payment makes. */
const STORE_OPERATIONS = 5;

const mishaps: { readonly [name: string]: Mishap } = {
  "the service is killed": async (world, chance) => {
    const { service } = world;
    await delay(chance.between(0, PAYMENT_MS));
    await service.kill();
  },
  "the node is killed": async (world, chance) => {
    await delay(chance.between(0, PAYMENT_MS));
    await world.killNode();
  },
  "the payer's line is cut": async ({ lines }, chance) =>
    lines.payer.cutAfter(chance.between(1, PAYER_BYTES)),
  "the node's line is cut": async ({ lines }, chance) => lines.node.cutAfter(chance.between(1, NODE_BYTES)),
  "the service dies as it writes": async ({ service }, chance) => {
    const operation = chance.pick(["write", "sync"] as const);
    const when = chance.pick(
      operation === "write" ? (["before", "half", "after"] as const) : (["before", "after"] as const),
    );
    const nth = chance.between(1, STORE_OPERATIONS);
    await service.arm({ operation, file: ".anulo", nth, when }).catch(() => {});
  },
};

/** One of them, or two at once. */
export function chooseMishaps(chance: Chance): {
  readonly names: readonly string[];
  readonly happen: Mishap;
} {
  const names = Object.keys(mishaps);
  const selection = [chance.pick(names), ...(chance.happens(0.3) ? [chance.pick(names)] : [])];
  return {
    names: selection,
    happen: async (world) => {
      await Promise.all(selection.map((name) => mishaps[name]!(world, chance)));
    },
  };
}
