import { createFunctions, type Functions } from "./client.ts";
import { protocolKinds, walletKinds } from "./errors.ts";
import { createEventCalls, type EventCalls } from "./events.ts";
import { type NodeCalls, nodeCalls } from "./generated/node-calls.ts";
import { type WalletCalls, walletCalls } from "./generated/wallet-calls.ts";
import { type ClientOptions, createTransport } from "./transport.ts";

/** The calls of a node. A `status` other than `OK` is the caller's to judge. */
export type NodeClient = Functions<NodeCalls>;

/** The calls of a wallet service, and its events. */
export type WalletClient = Functions<WalletCalls> & EventCalls;

export type WalletClientOptions = ClientOptions & {
  /** Name of one of the wallets of the service's folder; left out, the one that was opened without a name. */
  readonly wallet?: string;
  /**
   * Whether payments get idempotency keys that the caller did not give, so that they can be repeated where no answer
   * came; they do unless this is false. Services that do not keep keys ignore them, and are sent no payment twice.
   */
  readonly idempotencyKeys?: boolean;
};

/** A client of the node at `url` (`http://host:port`). Throws TypeError for an address that is none. */
export function createNodeClient(url: string | URL, options: ClientOptions = {}): NodeClient {
  const transport = createTransport(url, options);
  return createFunctions<NodeCalls>({
    transport,
    prefix: "",
    table: nodeCalls,
    kinds: protocolKinds,
    options,
    makesKeys: false,
  });
}

/**
 * A client of the wallet service at `url` (`http://host:port`). Throws TypeError for an address that is none, and for a
 * wallet name that a path cannot hold.
 */
export function createWalletClient(url: string | URL, options: WalletClientOptions = {}): WalletClient {
  const transport = createTransport(url, options);
  const prefix = options.wallet === undefined ? "" : pathOf(options.wallet);
  const functions = createFunctions<WalletCalls>({
    transport,
    prefix,
    table: walletCalls,
    kinds: walletKinds,
    options,
    makesKeys: options.idempotencyKeys !== false,
  });
  return { ...functions, ...createEventCalls({ transport, path: `${prefix}/events`, options }) };
}

/** Path of a named wallet. An address takes `.` and `..` for folders, however they are written: the service itself. */
function pathOf(wallet: string): string {
  if (/^\.{0,2}$/.test(wallet)) throw new TypeError(`no wallet has the name "${wallet}"`);
  return `/wallets/${encodeURIComponent(wallet)}`;
}
