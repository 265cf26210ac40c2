/** Single transactions of the chain, fetched to be scanned. Source: wallet2.cpp `scan_tx`. */
import { fromHex, hardForkAt, networks } from "@anulo/protocol";
import type { Daemon } from "../daemon.ts";
import { checkAnswer, FAILED, refuseWhenUnreachable, TRANSACTIONS_PER_CALL } from "../proofs/transactions.ts";
import { WalletRefusal } from "../refusal.ts";
import type { NetworkName } from "../state.ts";
import type { SingleTransaction } from "./messages.ts";

/** Returns those of the transactions (hex ids) that are in a block, lowest height first. Throws `WalletRefusal`. */
export async function fetchSingles(
  { daemon, network }: { readonly daemon: Daemon; readonly network: NetworkName },
  ids: readonly string[],
): Promise<SingleTransaction[]> {
  const singles: SingleTransaction[] = [];
  for (let at = 0; at < ids.length; at += TRANSACTIONS_PER_CALL) {
    const txs_hashes = ids.slice(at, at + TRANSACTIONS_PER_CALL);
    const { txs } = await refuseWhenUnreachable(daemon.getTransactions({ txs_hashes, prune: true }), FAILED);
    if (txs.length !== txs_hashes.length) throw new WalletRefusal("UNKNOWN_ERROR", FAILED);
    for (const [i, entry] of txs.entries()) {
      const txHash = fromHex(txs_hashes[i]!);
      checkAnswer(entry, txHash);
      if (entry.in_pool) continue;
      const pruned = entry.as_hex === "" && entry.prunable_as_hex === "";
      const height = entry.block_height ?? 0;
      singles.push({
        blob: fromHex(entry.as_hex || entry.pruned_as_hex + entry.prunable_as_hex),
        form: pruned ? "pruned" : "whole",
        txHash,
        height,
        timestamp: entry.block_timestamp ?? 0,
        globalIndices: entry.output_indices ?? [],
        blockVersion: hardForkAt(networks[network], height),
      });
    }
  }
  return singles.sort((a, b) => a.height - b.height);
}
