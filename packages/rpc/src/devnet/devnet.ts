import { costs } from "../costs.ts";
import { type Declared, method } from "../define.ts";
import { always, list, object, optional, or } from "../schema/composites.ts";
import { flag, text, u64, uint } from "../schema/scalars.ts";
import type { AnySchema } from "../schema/schema.ts";

const nothing = object({});

/** On the owner's port alone, and only there where a devnet runs. */
function devnetMethod<const Name extends string, Params extends AnySchema, Result extends AnySchema>(
  declaration: Declared & { readonly name: Name; readonly params: Params; readonly result: Result },
) {
  return method({ ...declaration, access: "unrestricted" });
}

const fault = object({
  id: uint,
  at: text,
  kind: text,
  delay_ms: optional(uint),
  calls: optional(list(text)),
  times: optional(uint),
  wallet: optional(text),
  /** Requests it has befallen. */
  count: uint,
});

const height = object({ height: uint });
const timeNow = object({ time: uint });

/** Calls of a devnet, for tests in any language. */
export const devnet = {
  info: devnetMethod({
    name: "devnet_info",
    reads: true,
    summary: "Where the node listens, how many blocks there are, and what time it is.",
    params: nothing,
    result: object({ node_url: text, height: uint, time: uint }),
  }),
  wallets: devnetMethod({
    name: "devnet_wallets",
    reads: true,
    cost: costs.medium,
    summary: "The wallets, with where their services listen.",
    params: nothing,
    result: object({
      wallets: list(object({ name: text, address: text, mnemonic: text, url: text })),
    }),
  }),
  fund: devnetMethod({
    name: "devnet_fund",
    cost: costs.large,
    summary: "Creates outputs that can be spent at once.",
    params: object({
      /** Name of a wallet, or an address. */
      to: text,
      /** Atomic units, each at most a block's reward. */
      amounts: list(u64),
    }),
    result: height,
  }),
  mine: devnetMethod({
    name: "devnet_mine",
    cost: costs.large,
    summary: "Mines blocks with what waits in the pool.",
    params: object({
      blocks: or(uint, 1),
      /** Who is paid: the name of a wallet, or an address; the usual miner unless given. */
      to: optional(text),
    }),
    result: height,
  }),
  autoMine: devnetMethod({
    name: "devnet_auto_mine",
    summary: "Sets when blocks are mined without being asked for.",
    params: object({
      /** `manual`, `payment` or `interval`. */
      mode: text,
      /** Milliseconds between two blocks, for `interval`. */
      every_ms: or(uint, 0),
    }),
    result: nothing,
  }),
  reorg: devnetMethod({
    name: "devnet_reorg",
    cost: costs.large,
    summary: "Replaces the newest blocks by one block more.",
    params: object({
      depth: uint,
      /** Where transactions of the replaced blocks are afterwards: `pool` or `mined`. */
      payments: or(text, "pool"),
      to: optional(text),
    }),
    result: height,
  }),
  snapshot: devnetMethod({
    name: "devnet_snapshot",
    cost: costs.large,
    summary: "Saves the state of chain, pool and wallets; returns the id by which it is restored.",
    params: nothing,
    result: object({ snapshot_id: uint }),
  }),
  revert: devnetMethod({
    name: "devnet_revert",
    cost: costs.large,
    summary: "Restores a saved state, as often as wanted.",
    params: object({ snapshot_id: uint }),
    result: height,
  }),
  dropSnapshot: devnetMethod({
    name: "devnet_drop_snapshot",
    summary: "Frees what a saved state takes.",
    params: object({ snapshot_id: uint }),
    result: nothing,
  }),
  setTime: devnetMethod({
    name: "devnet_set_time",
    summary: "Sets the time of node and wallets, in seconds since 1970; it does not go back.",
    params: object({ time: uint }),
    result: timeNow,
  }),
  advanceTime: devnetMethod({
    name: "devnet_advance_time",
    summary: "Moves the time of node and wallets on.",
    params: object({ seconds: uint }),
    result: timeNow,
  }),
  fault: devnetMethod({
    name: "devnet_fault",
    summary: "Begins a fault, which lasts until it is ended or has befallen as many requests as it was to.",
    params: object({
      /** `node`: between the wallets and the node; `wallet`: between callers and wallets. */
      at: text,
      /** `away`, `refusing`, `slow` or `lost-answers`. */
      kind: text,
      /** Milliseconds that a request of a slow one waits. */
      delay_ms: optional(uint),
      /** Methods or paths it befalls; all unless given. */
      calls: optional(list(text)),
      times: optional(uint),
      wallet: optional(text),
    }),
    result: object({ fault_id: uint }),
  }),
  listFaults: devnetMethod({
    name: "devnet_list_faults",
    reads: true,
    cost: costs.medium,
    summary: "The faults that last.",
    params: nothing,
    result: object({ faults: always(list(fault)) }),
  }),
  endFault: devnetMethod({
    name: "devnet_end_fault",
    summary: "Ends a fault, or all of them.",
    params: object({
      fault_id: or(uint, 0),
      all: or(flag, false),
    }),
    result: nothing,
  }),
};
