import { keccak256 } from "@anulo/crypto";
import { fromHex, readBlock, toHex } from "@anulo/protocol";
import { call, type ExactObject, formatExact, post } from "@anulo/testkit";

/** What of a transaction's answers does not depend on when one asks. */
const fields = [
  ...["as_hex", "as_json", "pruned_as_hex", "prunable_as_hex", "prunable_hash", "output_indices"],
  ...["block_height", "block_timestamp", "tx_hash", "in_pool", "double_spend_seen"],
];

/** All a node says of a block and its transactions, whole and pruned, in hexadecimal and JSON: hashed. */
export async function describeBlock(url: string, height: number): Promise<string> {
  const { json, tx_hashes = [], miner_tx_hash } = await call(url, "get_block", { height });
  const txs_hashes = [miner_tx_hash!, ...(tx_hashes as string[])];
  const ask = async (prune: boolean) => {
    const body = { txs_hashes, decode_as_json: true, prune };
    const { txs } = await post(`${url}/get_transactions`, body);
    return (txs as ExactObject[]).map((entry) => fields.map((field) => entry[field] ?? null));
  };
  const all = formatExact([json ?? null, await ask(false), await ask(true)]);
  return toHex(keccak256(Buffer.from(all)).subarray(0, 16));
}

const templateFields = [
  ...["difficulty", "expected_reward", "height", "next_seed_hash", "prev_hash", "seed_hash", "seed_height"],
];

/** What of a block template depends on the chain alone, as text. */
export function describeTemplate(template: ExactObject): string {
  const { header, minerTransaction } = readBlock(fromHex(String(template.blocktemplate_blob)));
  const { version, unlockTime, outputs, extra } = minerTransaction.prefix;
  const miner = outputs.map(({ amount, target }) => `${amount} ${target.type}`);
  const facts = [header.majorVersion, header.minorVersion, version, unlockTime, extra.length, ...miner];
  return [...templateFields.map((field) => `${field} ${template[field]}`), ...facts].join(", ");
}
