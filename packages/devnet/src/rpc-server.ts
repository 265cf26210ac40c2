import { createRpcServer, devnet as declared, implementFor, RpcError, type RpcServer } from "@anulo/rpc";
import { CallFailed } from "./call.ts";
import { heightOf } from "./chain-calls.ts";
import type { Fault, FaultKind, FaultOptions } from "./faults.ts";
import { NotSupported } from "./net.ts";
import type { Devnet, DevnetWallet } from "./options.ts";

/** Codes of this service's refusals. */
export const devnetErrors = { badRequest: -1, notSupported: -2, refusedByNode: -3 } as const;

type AnyDevnet = Devnet<string>;
type Context = { readonly net: AnyDevnet };

/** Serves the calls of a devnet on 127.0.0.1. */
export function startDevnetRpc(net: AnyDevnet, port = 0): Promise<RpcServer> {
  return createRpcServer<Context>({
    calls: handlers,
    listen: [{ host: "127.0.0.1", port }],
    context: () => ({ net }),
    isMet: () => true,
    info: { title: "Anulo devnet", version: "" },
  });
}

/** Throws what callers see of the errors that a devnet throws on purpose. */
async function refusing<T>(task: () => T | Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (error instanceof RangeError) throw new RpcError(devnetErrors.badRequest, error.message);
    if (error instanceof NotSupported) throw new RpcError(devnetErrors.notSupported, error.message);
    if (error instanceof CallFailed) throw new RpcError(devnetErrors.refusedByNode, error.message);
    throw error;
  }
}

const heightAfter = (task: () => Promise<number>) => refusing(async () => ({ height: await task() }));

function oneOf<const T extends string>(what: string, value: string, values: readonly T[]): T {
  const found = values.find((it) => it === value);
  if (found === undefined) throw new RangeError(`${what} is one of ${values.join(", ")}`);
  return found;
}

const KINDS: readonly FaultKind[] = ["away", "refusing", "slow", "lost-answers"];

function describeFault({ id, options, count }: Fault) {
  const { at, kind, delayMs: delay_ms, calls, times, wallet } = options;
  return { id, at, kind, delay_ms, calls: calls && [...calls], times, wallet, count };
}

const handlers = implementFor<Context>()(declared, {
  info: (_, { net }) =>
    refusing(async () => ({ node_url: net.nodeUrl, height: await heightOf(net.nodeUrl), time: net.time() })),
  wallets: (_, { net }) => ({
    wallets: Object.values<DevnetWallet>(net.wallets).map(({ name, address, mnemonic, url }) => ({
      name,
      address,
      mnemonic,
      url,
    })),
  }),
  fund: ({ to, amounts }, { net }) => heightAfter(() => net.fund({ [to]: amounts })),
  mine: ({ blocks, to }, { net }) => heightAfter(() => net.mine(blocks, to)),
  autoMine: ({ mode, every_ms }, { net }) =>
    refusing(() => {
      const known = oneOf("mode", mode, ["manual", "payment", "interval"]);
      net.autoMine(known === "interval" ? { everyMs: every_ms } : known);
      return {};
    }),
  reorg: ({ depth, payments, to }, { net }) =>
    heightAfter(async () => {
      const left = oneOf("payments", payments, ["pool", "mined"]);
      return await net.reorg(depth, { payments: left, ...(to !== undefined && { to }) });
    }),
  snapshot: (_, { net }) => refusing(async () => ({ snapshot_id: await net.snapshot() })),
  revert: ({ snapshot_id }, { net }) =>
    heightAfter(async () => {
      await net.revert(snapshot_id);
      return await heightOf(net.nodeUrl);
    }),
  dropSnapshot: ({ snapshot_id }, { net }) =>
    refusing(async () => {
      await net.dropSnapshot(snapshot_id);
      return {};
    }),
  setTime: ({ time }, { net }) =>
    refusing(() => {
      net.setTime(time);
      return { time: net.time() };
    }),
  advanceTime: ({ seconds }, { net }) =>
    refusing(() => {
      net.advanceTime(seconds);
      return { time: net.time() };
    }),
  fault: ({ at, kind, delay_ms: delayMs, ...rest }, { net }) =>
    refusing(() => {
      const options: FaultOptions = {
        ...rest,
        at: oneOf("at", at, ["node", "wallet"]),
        kind: oneOf("kind", kind, KINDS),
        delayMs,
      };
      return { fault_id: net.faults.begin(options).id };
    }),
  listFaults: (_, { net }) => ({ faults: net.faults.active.map(describeFault) }),
  endFault: ({ fault_id, all }, { net }) =>
    refusing(() => {
      if (all) net.faults.endAll();
      else {
        const fault = net.faults.active.find(({ id }) => id === fault_id);
        if (fault === undefined) throw new RangeError(`there is no fault ${fault_id}`);
        fault.end();
      }
      return {};
    }),
});
