import { type Block, type Transaction, type TxInput, transactionHash, writeBlock } from "@anulo/protocol";
import type { Bench, Case } from "./bench.ts";
import { tagged } from "./forge.ts";
import { NO_POINT, TORSION_POINT } from "./mutated-transactions.ts";

type Named = [name: string, block: Block];

/** Blocks good and bad, each on its own on top of the chain. */
export function mutatedBlocks(bench: Bench): Case[] {
  const good = writeBlock(bench.forge.block());
  const whole = [
    ...headers(bench),
    ...minerTransactions(bench),
    ...bodies(bench),
    ...strangeMinerKeys(bench),
  ];
  return [
    ...whole.map(([name, block]) => ({ name, blob: writeBlock(block) })),
    { name: "one byte too many", blob: new Uint8Array([...good, 0]) },
    { name: "two bytes too few", blob: good.slice(0, -2) },
    { name: "nothing", blob: new Uint8Array(0) },
  ];
}

function headers({ forge }: Bench): Named[] {
  const header = (edit: Partial<Block["header"]>): Block => {
    const block = forge.block();
    return { ...block, header: { ...block.header, ...edit } };
  };
  const { timestamp } = forge.block().header;
  return [
    ["a good block", forge.block()],
    ["timestamp at the median", header({ timestamp: timestamp - 61 * 60 })],
    ["major version 15", header({ majorVersion: 15 })],
    ["major version 17", header({ majorVersion: 17 })],
    ["minor version 15", header({ minorVersion: 15 })],
    ["minor version 17", header({ minorVersion: 17 })],
    ["minor version 0", header({ minorVersion: 0 })],
    ["timestamp one below the median", header({ timestamp: timestamp - 61 * 60 - 1 })],
    ["timestamp in 2100", header({ timestamp: 4_102_444_800 })],
  ];
}

function minerTransactions({ forge, coins, height }: Bench): Named[] {
  const miner = (edit: (transaction: Transaction) => unknown): Block => {
    const block = forge.block();
    edit(block.minerTransaction);
    return block;
  };
  const prefix = (edit: Partial<Transaction["prefix"]>) => miner((t) => Object.assign(t.prefix, edit));
  const generation = (at: number): TxInput => ({ type: "generation", height: at });
  const amount = forge.block().minerTransaction.prefix.outputs[0]!.amount;
  const key = coins[0]!.key;
  return [
    ["miner height one too low", prefix({ inputs: [generation(height - 1)] })],
    ["miner height one too high", prefix({ inputs: [generation(height + 1)] })],
    ["miner unlocks one block early", prefix({ unlockTime: BigInt(height + 59) })],
    ["miner unlocks one block late", prefix({ unlockTime: BigInt(height + 61) })],
    ["miner claims one more", prefix({ outputs: [tagged(key, amount + 1n)] })],
    ["miner claims one less", prefix({ outputs: [tagged(key, amount - 1n)] })],
    ["miner claims nothing", prefix({ outputs: [] })],
    ["miner output without view tag", prefix({ outputs: [{ amount, target: { type: "key", key } }] })],
    [
      "miner output to a script",
      prefix({ outputs: [{ amount, target: { type: "scriptHash", hash: key } }] }),
    ],
    ["miner amounts overflow", prefix({ outputs: [tagged(key, 2n ** 64n - 1n), tagged(key, amount + 1n)] })],
    [
      "miner transaction of version 1",
      miner((t) =>
        Object.assign(t, { prefix: { ...t.prefix, version: 1 }, ringct: undefined, signatures: [[]] }),
      ),
    ],
    ["two miner inputs", prefix({ inputs: [generation(height), generation(height)] })],
    ["miner spends a coin", prefix({ inputs: forge.spend({ inputs: [{ coin: coins[9]! }] }).prefix.inputs })],
  ];
}

function bodies({ forge, oldSpend }: Bench): Named[] {
  const naming = (...ids: Uint8Array[]): Block => ({ ...forge.block(), transactionHashes: ids });
  return [
    ["an unknown transaction", naming(new Uint8Array(32).fill(3))],
    ["a transaction of the chain", naming(oldSpend.candidate.id)],
    ["its own miner transaction", naming(transactionHash(forge.block().minerTransaction))],
  ];
}

/** Keys nobody can spend from, but a miner may pay to: nobody looks at them. */
function strangeMinerKeys({ forge }: Pick<Bench, "forge">): Named[] {
  const paying = (key: Uint8Array): Block => {
    const block = forge.block();
    const { amount } = block.minerTransaction.prefix.outputs[0]!;
    Object.assign(block.minerTransaction.prefix, { outputs: [tagged(key, amount)] });
    return block;
  };
  return [
    ["miner key that is no point", paying(NO_POINT)],
    ["miner key of small order", paying(TORSION_POINT)],
  ];
}
