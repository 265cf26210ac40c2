import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scReduce32 } from "@anulo/crypto";
import { createNode, type Node } from "@anulo/node";
import { encodeMnemonic } from "@anulo/protocol";
import type { Dialect, Pages } from "@anulo/rpc";
import {
  closeRuntime,
  createRuntime,
  createWalletService,
  type Runtime,
  type WalletService,
} from "@anulo/wallet";
import { call, post } from "./call.ts";
import type { Exact, ExactObject } from "./exact-json.ts";

export type DevnetOptions = {
  /** Wallets of the same seed have the same keys. */
  readonly seed?: number;
  readonly dialect?: Dialect;
  /** Threads that verify; 0, the default, keeps everything in one thread so that many can run at once. */
  readonly verifyThreads?: number;
  /** Web pages that the node and both wallet services serve; left out, none. */
  readonly pages?: Pages;
  /** Whether both wallets can pay at once: 90 blocks are mined at the start. Unless it is true the chain is empty. */
  readonly funded?: boolean;
  /** Ports to listen on; left out, free ones. */
  readonly ports?: { readonly node?: number; readonly alice?: number; readonly bob?: number };
};

/** A wallet with a service of its own. */
export type DevnetWallet = {
  readonly name: string;
  readonly address: string;
  /** 25 words. Worthless: anyone can compute them from the seed. */
  readonly mnemonic: string;
  readonly url: string;
  call(method: string, params?: Exact): Promise<ExactObject>;
  /** Scans what is new and returns the balance, atomic units. */
  balance(): Promise<{ balance: bigint; unlocked: bigint }>;
  /** Scans what is new and pays atomic units to an address; returns the transaction id. */
  pay(address: string, amount: bigint): Promise<string>;
};

/** A private chain with two wallets, on free ports of 127.0.0.1. */
export type Devnet = {
  readonly node: Node;
  readonly nodeUrl: string;
  readonly wallets: { readonly alice: DevnetWallet; readonly bob: DevnetWallet };
  /** Mines blocks, to alice unless another address is given; returns the new height. */
  mine(blocks: number, address?: string): Promise<number>;
  /**
   * Replaces the newest `depth` blocks by one block more, to alice unless another address is given; returns the new
   * height. Transactions of the removed blocks wait in the pool again, and the new blocks take them.
   * Throws a RangeError where there are not as many blocks above the first.
   */
  reorganise(depth: number, address?: string): Promise<number>;
  stop(): Promise<void>;
};

/** Starts a node and the wallets alice and bob. Two devnets know nothing of each other. */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const folder = mkdtempSync(join(tmpdir(), "anulo-devnet-"));
  const stops: (() => Promise<void>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
  const stop = () => stopAll(stops.splice(0).reverse());
  try {
    const node = createNode({
      network: "regtest",
      fixedDifficulty: 1n,
      offline: true,
      listen: [{ host: "127.0.0.1", port: options.ports?.node ?? 0 }],
      dialect: options.dialect,
      verifyThreads: options.verifyThreads ?? 0,
      pages: options.pages,
    });
    await node.start();
    stops.push(() => node.stop());
    const nodeUrl = node.urls[0]!;
    const runtime = createRuntime();
    stops.push(() => closeRuntime(runtime));
    const open = (name: "alice" | "bob") => openWallet({ name, folder, nodeUrl, options, runtime, stops });
    const wallets = { alice: await open("alice"), bob: await open("bob") };
    const mine = async (blocks: number, address = wallets.alice.address) => {
      const { height } = await call(nodeUrl, "generateblocks", {
        amount_of_blocks: blocks,
        wallet_address: address,
      });
      return Number(height) + 1;
    };
    const reorganise = async (depth: number, address?: string) => {
      const { height } = await call(nodeUrl, "get_info");
      if (!Number.isInteger(depth) || depth < 1 || depth >= Number(height))
        throw new RangeError(`a chain of ${height} blocks has no ${depth} to replace`);
      await post(`${nodeUrl}/pop_blocks`, { nblocks: depth });
      return await mine(depth + 1, address);
    };
    if (options.funded === true) await fund({ wallets, mine });
    return { node, nodeUrl, wallets, mine, reorganise, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Mined coins unlock after 60 blocks, and a ring needs 16 outputs that are unlocked. */
async function fund({ wallets: { alice, bob }, mine }: Pick<Devnet, "wallets" | "mine">): Promise<void> {
  await mine(10, bob.address);
  await mine(80);
  await Promise.all([alice.balance(), bob.balance()]);
}

/** Ends all, one after the other, even where one fails; then throws what failed. */
async function stopAll(stops: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const end of stops) await end().catch((error) => failures.push(error));
  if (failures.length > 0) throw new AggregateError(failures, "a part of the devnet did not stop cleanly");
}

type Place = {
  readonly name: "alice" | "bob";
  readonly folder: string;
  readonly nodeUrl: string;
  readonly options: DevnetOptions;
  readonly runtime: Runtime;
  readonly stops: (() => Promise<void>)[];
};

async function openWallet({ name, folder, nodeUrl, options, runtime, stops }: Place): Promise<DevnetWallet> {
  const service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: options.ports?.[name] ?? 0 }],
    walletDirectory: folder,
    daemon: { url: nodeUrl },
    trustedDaemon: true,
    runtime,
    ...(options.dialect !== undefined && { dialect: options.dialect }),
    ...(options.pages !== undefined && { pages: options.pages }),
  });
  stops.push(() => service.stop());
  const mnemonic = mnemonicOf(options.seed ?? 1, name);
  const { address } = await call(service.url, "restore_deterministic_wallet", {
    filename: name,
    password: "",
    seed: mnemonic,
    restore_height: 0,
  });
  return devnetWallet({ service, name, mnemonic, address: String(address) });
}

/** Keys of a devnet wallet follow from its seed and name alone. */
function mnemonicOf(seed: number, name: string): string {
  const hash = createHash("sha256").update(`anulo devnet ${seed} ${name}`).digest();
  return encodeMnemonic(scReduce32(new Uint8Array(hash)), "English");
}

type Opened = {
  readonly service: WalletService;
  readonly name: string;
  readonly mnemonic: string;
  readonly address: string;
};

function devnetWallet({ service, name, mnemonic, address }: Opened): DevnetWallet {
  const { url } = service;
  return {
    name,
    address,
    mnemonic,
    url,
    call: (method, params = {}) => call(url, method, params),
    balance: async () => {
      await call(url, "refresh");
      const { balance, unlocked_balance } = await call(url, "get_balance", { account_index: 0 });
      return { balance: BigInt(String(balance)), unlocked: BigInt(String(unlocked_balance)) };
    },
    pay: async (to, amount) => {
      await call(url, "refresh");
      const { tx_hash } = await call(url, "transfer", { destinations: [{ address: to, amount }] });
      return String(tx_hash);
    },
  };
}
