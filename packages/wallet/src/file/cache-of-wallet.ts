/**
 * A wallet's state as the original program's cache: of version 0, which every 0.18 reads, or for a background wallet of
 * version 2.
 * Source: wallet2.h `transfer_details`, `payment_details`, `confirmed_transfer_details`; wallet2.cpp
 * `process_new_transaction`, `import_outputs`.
 */
import { runSliced } from "@anulo/limits";
import {
  type Address,
  BadAddress,
  blockId,
  fromHex,
  genesisBlock,
  type KeyInput,
  networks,
  parseAddress,
  readTransactionPrefix,
  type TransactionPrefix,
  type TxOutput,
} from "@anulo/protocol";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { SOMEBODY } from "../outputs/owned-output.ts";
import type { RecognisedAddresses } from "../scan/address-runs.ts";
import type {
  AddressBookEntry,
  BackgroundScan,
  IncomingPayment,
  NetworkName,
  OutgoingPayment,
  OutgoingState,
  PoolPayment,
  WalletState,
} from "../state.ts";
import { chosen, each, eachPlace, entriesOf, WalletMoved } from "./cache-items.ts";
import type { CachedDestination, CacheToWrite, Items, OriginalCache } from "./original-cache.ts";
import { placesToWrite } from "./places-to-write.ts";

/** The attribute in which a cache written here stores its id, so that a cache derived from it is recognised. */
export const LINEAGE = "anulo.cache";
/** Source: cryptonote_basic/tx_extra.h TX_EXTRA_TAG_PUBKEY. */
const PUBLIC_KEY_TAG = 1;
const NOTHING = new Uint8Array(32);
/**
 * Source: wallet2.h `unconfirmed_transfer_details::m_state`; payments with state `forgotten` still reserve their
 * inputs.
 */
const stateNumbers: Readonly<Record<Exclude<OutgoingState, "confirmed">, number>> = {
  signed: 0,
  pending: 0,
  forgotten: 0,
  missing: 1,
  failed: 2,
};

const utf8 = new TextEncoder();
const bytesOf = (text: string): Uint8Array => utf8.encode(text);
const pair = <K, V>(key: K, value: V) => ({ pairSize: 2, key, value });

/** The addresses that are recognised now, by their spend keys; others may be added while the cache is written. */
function recognised(table: RecognisedAddresses) {
  return {
    length: table.size,
    *[Symbol.iterator]() {
      for (const { key, index } of table.entries()) yield pair(key, index);
    },
  };
}

export type CacheOwner = {
  readonly state: Readonly<WalletState>;
  readonly isViewOnly: boolean;
  readonly isMultisig: boolean;
  readonly spendPublic: Uint8Array;
  readonly viewPublic: Uint8Array;
  /** Index of every address that is recognised, by hex spend public key. */
  readonly subaddresses: RecognisedAddresses;
  /** Of a background wallet that begins at this height, with these settings; undefined for other wallets. */
  readonly background?: BackgroundScan | undefined;
};

/**
 * Whether the ids of the newest scanned blocks are known; without them the original could not continue from these
 * blocks.
 */
export function knowsChain({ recent, height }: Readonly<WalletState>): boolean {
  return recent.end === height && (recent.length > 0 || height === 1);
}

/** The receipts, by their places. */
function receiptsOf({ incoming }: Readonly<WalletState>): Items<IncomingPayment> {
  const { length, removeCount } = incoming;
  return eachPlace(length, (place) => {
    if (incoming.removeCount !== removeCount) throw new WalletMoved();
    return incoming.at(place);
  });
}

/** The payments made that are in a block now, the lowest first, whatever changes later. */
async function confirmedOf({ outgoing }: Readonly<WalletState>): Promise<Items<OutgoingPayment>> {
  const all = {
    account: undefined,
    minors: new Set<number>(),
    minHeight: -1,
    maxHeight: Number.POSITIVE_INFINITY,
  };
  const { length, at } = await runSliced(outgoing.matching(all));
  return eachPlace(length, (index) => at(length - 1 - index));
}

/** The keys of transactions, by their places: the first of each, and the others where there are some. */
async function txKeysOf({ txKeys }: Readonly<WalletState>) {
  const entryAt = (place: number) => {
    const entry = txKeys.at(place);
    if (entry === undefined) throw new WalletMoved();
    return entry;
  };
  const { size } = txKeys;
  const withOthers = await chosen(size, (place) => entryAt(place)[1].length > 1);
  return {
    txKeys: eachPlace(size, (place) => pair(entryAt(place)[0], entryAt(place)[1][0]!)),
    additionalTxKeys: each(withOthers, (place) => pair(entryAt(place)[0], entryAt(place)[1].slice(1))),
  };
}

/**
 * The cache of the current state, with this id. Its items are found in slices, and read and formatted when they are
 * written, so that the wallet remains usable and never has them all in memory: spends in blocks of later heights count
 * as pending. Nonces of multisig wallets, and the other signers' exports, are left out: two programs must never use the
 * same nonce.
 */
export async function cacheOfWallet(owner: CacheOwner, id: string): Promise<CacheToWrite> {
  const { state, spendPublic, viewPublic } = owner;
  const { network } = state;
  const chain = chainOf(state);
  const toTransfer = transferOf(owner);
  const { version } = state.outputs;
  const receipts = receiptsOf(state);
  const confirmed = await confirmedOf(state);
  const waiting = state.outgoing.unconfirmed().map((payment) => ({ ...payment }));
  const outputs = await placesToWrite(state.outputs);
  const checked = () => {
    if (state.outputs.version !== version) throw new WalletMoved();
    return state.outputs;
  };
  const images = await chosen(outputs.length, (index) => checked().hasKeyImage(outputs[index]!));
  const outputAt = (place: number): OwnedOutput => checked().at(place)!;
  const keys = await txKeysOf(state);
  return {
    version: 0,
    ...chain,
    transfers: each(outputs, (place) => toTransfer(outputAt(place), place)),
    address: { spendPublic, viewPublic },
    keyImages: each(images, (index) => pair(outputAt(outputs[index]!).keyImage!, BigInt(index))),
    unconfirmed: each(waiting, (payment) => pair(payment.txHash, unconfirmedOf(payment, network))),
    payments: each(receipts, (payment) => pair(payment.paymentId, paymentOf(payment))),
    txKeys: keys.txKeys,
    confirmed: each(confirmed, (payment) => pair(payment.txHash, confirmedPaymentOf(payment, network))),
    notes: entriesOf(state.notes, (txid, note) => pair(fromHex(txid), bytesOf(note))),
    poolPayments: each([...state.pool], (payment) => pair(payment.paymentId, poolPaymentOf(payment))),
    oneTimeKeys: each(outputs, (place, index) => pair(outputAt(place).oneTimeKey, BigInt(index))),
    addressBook: bookRows(state.addressBook, network),
    seenInPool: [],
    seenInPoolBefore: [],
    subaddresses: recognised(owner.subaddresses),
    labels: each(
      state.accounts.map(({ addresses }) => addresses.map(({ label }) => label)),
      (labels) => labels.map(bytesOf),
    ),
    additionalTxKeys: keys.additionalTxKeys,
    attributes: entriesOf(new Map([...state.attributes, [LINEAGE, id]]), (key, value) =>
      pair(bytesOf(key), bytesOf(value)),
    ),
    accountTags: pair(
      [...state.accountTags].map(([tag, description]) => pair(bytesOf(tag), bytesOf(description))),
      state.accounts.map(({ tag }) => bytesOf(tag)),
    ),
    ringsSaved: 1,
    lastBlockReward: state.lastBlockReward,
    transactionsOnDevice: [],
    lastDeviceSync: 0n,
    coldKeyImages: entriesOf(state.coldKeyImages, (key, image) => pair(fromHex(key), image)),
    // The original generates a new one whenever it opens a wallet that is not set to keep it.
    rpcClientKey: NOTHING,
    ...backgroundOf(owner),
  };
}

/** The additional sections of a background wallet's cache, which version 2 introduced. */
function backgroundOf({ background }: CacheOwner) {
  if (background === undefined) return {};
  const { fromHeight, settings } = background;
  return {
    version: 2,
    refreshedFromNode: 0,
    background: { version: 0, isRefreshed: 0, height: BigInt(fromHeight) },
    backgroundTransactions: [],
    backgroundSettings: {
      refreshFromHeight: BigInt(settings.refreshFromHeight),
      lookaheadMajor: BigInt(settings.accounts),
      lookaheadMinor: BigInt(settings.addresses),
      refreshType: settings.skipsCoinbase ? 2n : 1n,
    },
  };
}

function chainOf({ recent, network }: Readonly<WalletState>) {
  const genesis = blockId(genesisBlock(networks[network]));
  const isWhole = recent.offset === 1;
  return {
    blocks: { version: 0, offset: BigInt(isWhole ? 0 : recent.offset), genesis },
    blockIds: isWhole ? [genesis, ...recent.slice()] : recent.slice(),
  };
}

type Transfer = OriginalCache["transfers"][number];
/**
 * The parts of a transaction that the original needs to spend the output and to show it: the output at its index, the
 * public key of the derivation as the transaction's, and the inputs that spend our outputs.
 */
function transferOf({
  state,
  isViewOnly,
  isMultisig,
}: CacheOwner): (output: OwnedOutput, place: number) => Transfer {
  const { height: until, requestedFrom } = state;
  const firstWanted = requestedFrom ?? (isViewOnly ? 0 : Number.POSITIVE_INFINITY);
  return (output, place) => {
    const { keyImage, spentHeight, pendingSpend } = output;
    const isSpent = spentHeight !== undefined && spentHeight < until;
    const isPending = spentHeight !== undefined || (pendingSpend !== undefined && pendingSpend !== SOMEBODY);
    return {
      height: BigInt(output.height),
      prefix: prefixAround(output),
      txHash: output.txHash,
      outputIndex: BigInt(output.outputIndex),
      globalIndex: output.globalIndex,
      spent: isSpent || isPending ? 1 : 0,
      frozen: output.frozen ? 1 : 0,
      spentHeight: BigInt(isSpent ? spentHeight : 0),
      keyImage: keyImage ?? NOTHING,
      mask: output.mask,
      amount: output.amount,
      rct: output.rct ? 1 : 0,
      keyImageKnown: keyImage === undefined ? 0 : 1,
      keyImageRequest: place >= firstWanted ? 1 : 0,
      keyIndex: 0n,
      subaddress: output.subaddress,
      keyImagePartial: isMultisig && keyImage === undefined ? 1 : 0,
      multisigNonces: [],
      multisigInfos: [],
      uses: [],
    };
  };
}

function prefixAround(output: OwnedOutput): TransactionPrefix {
  const other: TxOutput = { amount: 0n, target: { type: "script", keys: [], script: new Uint8Array(0) } };
  const own: TxOutput = {
    amount: output.rct ? 0n : output.amount,
    target: { type: "key", key: output.oneTimeKey },
  };
  const extra = new Uint8Array(33);
  extra[0] = PUBLIC_KEY_TAG;
  extra.set(output.txPublicKey, 1);
  const outputs = [...Array.from({ length: output.outputIndex }, () => other), own];
  return { version: output.rct ? 2 : 1, unlockTime: output.unlockTime, inputs: [], outputs, extra };
}

function paymentOf(payment: IncomingPayment) {
  const { txHash, amount, amounts, fee, unlockTime, coinbase, subaddress } = payment;
  return {
    version: 0,
    txHash,
    amount,
    amounts: [...amounts],
    fee,
    height: BigInt(payment.height),
    unlockTime,
    timestamp: BigInt(payment.timestamp),
    coinbase: coinbase ? 1 : 0,
    subaddress,
  };
}

function poolPaymentOf(payment: PoolPayment) {
  return { version: 0, payment: paymentOf(payment), doubleSpendSeen: payment.doubleSpendSeen ? 1 : 0 };
}

/** The whole transaction while it may have to be sent again, otherwise its inputs. */
function prefixOf({ blob, unlockTime, keyImages }: OutgoingPayment): TransactionPrefix {
  if (blob !== undefined) return readTransactionPrefix(blob);
  const inputs = keyImages.map((keyImage): KeyInput => {
    return { type: "key", amount: 0n, keyOffsets: [], keyImage };
  });
  return { version: 2, unlockTime, inputs, outputs: [], extra: new Uint8Array(0) };
}

function ringsOf({ inputs }: TransactionPrefix) {
  return inputs.flatMap((input) =>
    input.type === "key" && input.keyOffsets.length > 0 ? [pair(input.keyImage, input.keyOffsets)] : [],
  );
}

function commonOf(payment: OutgoingPayment, network: NetworkName) {
  const { amountIn, amountOut, change, paymentId, account, subaddressIndices } = payment;
  const prefix = prefixOf(payment);
  return {
    version: 1,
    prefix,
    amountIn,
    amountOut,
    change,
    destinations: payment.destinations.map((to) => destinationOf(to, network)),
    paymentId,
    account,
    subaddressIndices: [...subaddressIndices],
    rings: ringsOf(prefix),
  };
}

function unconfirmedOf(payment: OutgoingPayment, network: NetworkName) {
  return {
    ...commonOf(payment, network),
    sentTime: BigInt(payment.createdAt),
    state: payment.state === "confirmed" ? 0 : stateNumbers[payment.state],
    timestamp: BigInt(payment.timestamp),
  };
}

function confirmedPaymentOf(payment: OutgoingPayment, network: NetworkName) {
  return {
    ...commonOf(payment, network),
    height: BigInt(payment.height),
    timestamp: BigInt(payment.timestamp),
    unlockTime: payment.unlockTime,
  };
}

/** Undefined for text that is not an address of the network. */
function parsed(text: string, network: NetworkName): Address | undefined {
  try {
    return parseAddress(text, network);
  } catch (error) {
    if (error instanceof BadAddress) return undefined;
    throw error;
  }
}

/** With the caller's text, which the original shows. */
function destinationOf(
  { address, amount }: OutgoingPayment["destinations"][number],
  network: NetworkName,
): CachedDestination {
  const to = parsed(address, network);
  return {
    original: bytesOf(address),
    amount,
    spendPublic: to?.spendPublic ?? NOTHING,
    viewPublic: to?.viewPublic ?? NOTHING,
    isSubaddress: to?.kind === "subaddress" ? 1 : 0,
    isIntegrated: to?.kind === "integrated" ? 1 : 0,
  };
}

type BookRow = OriginalCache["addressBook"][number];

function bookRows(entries: readonly AddressBookEntry[], network: NetworkName): BookRow[] {
  return entries.flatMap(({ address, description }) => {
    const to = parsed(address, network);
    if (to === undefined) return [];
    return [
      {
        version: 0,
        spendPublic: to.spendPublic,
        viewPublic: to.viewPublic,
        paymentId: to.kind === "integrated" ? to.paymentId : new Uint8Array(8),
        description: bytesOf(description),
        isSubaddress: to.kind === "subaddress" ? 1 : 0,
        hasPaymentId: to.kind === "integrated" ? 1 : 0,
      },
    ];
  });
}
