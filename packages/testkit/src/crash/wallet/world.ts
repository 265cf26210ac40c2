import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scReduce32 } from "@anulo/crypto";
import { call, post } from "@anulo/devnet";
import { encodeMnemonic } from "@anulo/protocol";
import { type Ask, startNodeInProcess, startWalletsInProcess } from "../in-process.ts";
import { type GoBetween, startGoBetween } from "./go-between.ts";

/** What is not killed: the node, and the wallets beside the one that is. */
export type World = {
  readonly walletDir: string;
  readonly goBetween: GoBetween;
  /** Receives what is paid. */
  readonly bob: { readonly ask: Ask; readonly address: string };
  /** The same keys as the wallet that pays; nobody kills it. */
  readonly twin: Ask;
  /** Holds the spend key of the wallet that only views. */
  readonly cold: Ask;
  /** The other one of two signers. */
  readonly signer: Ask;
  mine(blocks: number, address: string): Promise<void>;
  /** Takes the newest blocks off the chain. */
  unmine(blocks: number): Promise<void>;
  stop(): Promise<void>;
};

/** Words of a wallet nobody else uses. */
export function wordsOf(name: string): string {
  const hash = createHash("sha256").update(`anulo crash ${name}`).digest();
  return encodeMnemonic(scReduce32(new Uint8Array(hash)), "English");
}

export async function createWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "anulo-crash-"));
  const stops: (() => Promise<void>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
  const node = await startNodeInProcess();
  stops.push(() => node.stop());
  const nodeUrl = node.url;
  const goBetween = await startGoBetween(nodeUrl);
  stops.push(() => goBetween.stop());
  const serve = async (): Promise<Ask> => {
    const service = await startWalletsInProcess(folder, nodeUrl);
    stops.push(() => service.stop());
    return service.ask;
  };
  const restored = async (name: string, words: string) => {
    const ask = await serve();
    const { address } = await ask("restore_deterministic_wallet", { filename: name, seed: wordsOf(words) });
    return { ask, address: String(address) };
  };
  return {
    walletDir: mkdtempSync(join(folder, "victim-")),
    goBetween,
    bob: await restored("bob", "bob"),
    twin: (await restored("twin", "alice")).ask,
    cold: (await restored("cold", "carol")).ask,
    signer: await serve(),
    mine: async (blocks, address) => {
      await call(nodeUrl, "generateblocks", { amount_of_blocks: blocks, wallet_address: address });
    },
    unmine: async (blocks) => void (await post(`${nodeUrl}/pop_blocks`, { nblocks: blocks })),
    stop: async () => {
      for (const stop of stops.reverse()) await stop();
    },
  };
}
