import type { Block } from "./block.ts";
import type { Network } from "./networks.ts";
import { readTransaction } from "./transaction.ts";

/** Block 0 of a network. Source: cryptonote_tx_utils.cpp `generate_genesis_block`. */
export function genesisBlock({ genesis }: Network): Block {
  return {
    header: {
      majorVersion: 1,
      minorVersion: 0,
      timestamp: 0,
      previousId: new Uint8Array(32),
      nonce: genesis.nonce,
    },
    minerTransaction: readTransaction(genesis.transaction),
    transactionHashes: [],
  };
}
