/**
 * Blocks whose miner transaction pays whoever shall have money: many outputs of chosen amounts at once, as pools of
 * miners pay their members. The node takes them as any other blocks.
 */
import {
  derivePublicKey,
  deriveViewTag,
  generateKeyDerivation,
  type RandomSource,
  randomScalar,
  scalarMult,
  scalarMultBase,
} from "@anulo/crypto";
import { type Block, parseAddress, type TxTarget, writeExtra } from "@anulo/protocol";
import { submitBlock, templateOf } from "./chain-calls.ts";

/** An output to create: atomic units to a standard address or a subaddress. */
export type FundedOutput = { readonly address: string; readonly amount: bigint };

/** Blocks after which an output of a miner transaction can be spent. Source: cryptonote_config.h. */
export const BLOCKS_UNTIL_SPENDABLE = 60;
/** Outputs of one block: some 40 bytes each, far below the weight from which a block earns less. */
const MAX_OUTPUTS_PER_BLOCK = 500;
/** Into so many outputs the first block's remainder is split: a ring needs 16 that can be spent. */
const DECOYS = 32;

export type FundedChain = {
  readonly nodeUrl: string;
  /** Whom the rest of each block's reward pays. */
  readonly miner: string;
  readonly random: RandomSource;
};

/**
 * Mines blocks that pay these outputs, in this order. Throws a RangeError for an amount that is not above 0 or that no
 * block can pay.
 */
export async function mineOutputs(chain: FundedChain, outputs: readonly FundedOutput[]): Promise<void> {
  for (const { amount } of outputs)
    if (amount <= 0n) throw new RangeError("an output is of more than nothing");
  for (let paid = 0; paid < outputs.length; ) {
    const block = await templateOf(chain.nodeUrl, chain.miner);
    const reward = rewardOf(block);
    const now = outputsThatFit(outputs.slice(paid, paid + MAX_OUTPUTS_PER_BLOCK), reward);
    if (now.length === 0)
      throw new RangeError(`an output of ${outputs[paid]?.amount} is more than a block can pay: ${reward}`);
    const rest = reward - now.reduce((sum, { amount }) => sum + amount, 0n);
    const remainder = splitInto(rest, paid === 0 ? DECOYS : 1, chain.miner);
    await payWith(chain, block, [...now, ...remainder]);
    paid += now.length;
  }
}

/** What the miner of a template gets: the reward with all fees, which has to be claimed exactly. */
function rewardOf({ minerTransaction }: Block): bigint {
  return minerTransaction.prefix.outputs.reduce((sum, { amount }) => sum + amount, 0n);
}

function outputsThatFit(outputs: readonly FundedOutput[], reward: bigint): FundedOutput[] {
  const fitting: FundedOutput[] = [];
  let sum = 0n;
  for (const output of outputs) {
    sum += output.amount;
    if (sum > reward) break;
    fitting.push(output);
  }
  return fitting;
}

function splitInto(amount: bigint, parts: number, address: string): FundedOutput[] {
  const part = amount / BigInt(parts);
  const amounts = [...Array.from({ length: parts - 1 }, () => part), amount - part * BigInt(parts - 1)];
  return amounts.filter((it) => it > 0n).map((it) => ({ address, amount: it }));
}

/**
 * Outputs to standard addresses share one transaction key; where one is to a subaddress, each output has a key of its
 * own besides. Source: cryptonote_tx_utils.cpp `construct_miner_tx`, `construct_tx_with_tx_key`.
 */
async function payWith(
  { nodeUrl, random }: FundedChain,
  block: Block,
  outputs: readonly FundedOutput[],
): Promise<void> {
  const secret = randomScalar(random);
  const recipients = outputs.map(({ address }) => recipientOf(address));
  const ownSecrets = recipients.some(({ kind }) => kind === "subaddress")
    ? recipients.map(() => randomScalar(random))
    : [];
  const derivations = new Map<string, Uint8Array>();
  const sharedDerivation = (address: string, viewPublic: Uint8Array): Uint8Array => {
    const derivation = derivations.get(address) ?? generateKeyDerivation(viewPublic, secret);
    derivations.set(address, derivation);
    return derivation;
  };
  const targetOf = (address: string, index: number): TxTarget => {
    const { kind, spendPublic, viewPublic } = recipients[index]!;
    const derivation =
      kind === "subaddress"
        ? generateKeyDerivation(viewPublic, ownSecrets[index]!)
        : sharedDerivation(address, viewPublic);
    return {
      type: "taggedKey",
      key: derivePublicKey(derivation, index, spendPublic),
      viewTag: deriveViewTag(derivation, index),
    };
  };
  const ownKeys = ownSecrets.map((own, i) => {
    const { kind, spendPublic } = recipients[i]!;
    return kind === "subaddress" ? scalarMult(own, spendPublic) : scalarMultBase(own);
  });
  const { prefix } = block.minerTransaction;
  const paying: Block = {
    ...block,
    minerTransaction: {
      ...block.minerTransaction,
      prefix: {
        ...prefix,
        outputs: outputs.map(({ address, amount }, i) => ({ amount, target: targetOf(address, i) })),
        extra: writeExtra([
          { type: "publicKey", key: scalarMultBase(secret) },
          ...(ownKeys.length > 0 ? [{ type: "additionalPublicKeys", keys: ownKeys } as const] : []),
        ]),
      },
    },
  };
  await submitBlock(nodeUrl, paying);
}

function recipientOf(text: string) {
  const address = parseAddress(text, "regtest");
  if (address.kind === "integrated")
    throw new RangeError(`an output has no payment id, and ${text} is an integrated address`);
  return address;
}
