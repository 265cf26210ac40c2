/** Accounts, addresses, balances. Declarations: @anulo/rpc wallet/accounts. */
import { type MaybePromise, mapSliced, runSliced } from "@anulo/limits";
import { BadAddress, parseAddress } from "@anulo/protocol";
import { wallet as declared, drawn, implementFor, type ParamsOf } from "@anulo/rpc";
import type { OpenWallet } from "../file/open-wallet.ts";
import { type AccountBalance, type AddressBalance, accountBalance, later } from "../history/balance.ts";
import { findAlias } from "../open-alias.ts";
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";
import type { Wallet } from "../wallet.ts";
import { storeText } from "./kept-texts.ts";
import { rememberedPatiently } from "./remembered.ts";

/** Source: wallet_rpc_server.cpp `on_create_address`. */
const MAX_ADDRESSES_PER_CALL = 65_536;
/** Maximum number of addresses in one response that the account does not have: each takes 0.3 ms to compute. */
const MAX_FOREIGN_ADDRESSES = 1000;
/** Maximum number of addresses that a wallet recognises, with its look-ahead: some 100 bytes each, with their labels. */
const MAX_RECOGNISED = 4_000_000;

function balanceOf(wallet: Wallet, account: number, strict: boolean): AccountBalance {
  return accountBalance(wallet.state, {
    account,
    strict,
    now: wallet.now(),
    indexOf: (text) => wallet.indexOf(text),
  });
}

function checkAccount(wallet: Wallet, account: number): void {
  if (account >= wallet.state.accounts.length) {
    throw new WalletRefusal("ACCOUNT_INDEX_OUT_OF_BOUNDS", "account index is out of bound");
  }
}

function checkAddress(wallet: Wallet, { major, minor }: SubaddressIndex): void {
  checkAccount(wallet, major);
  if (minor >= wallet.state.accounts[major]!.addresses.length) {
    throw new WalletRefusal("ADDRESS_INDEX_OUT_OF_BOUNDS", "address index is out of bound");
  }
}

/**
 * Throws `WalletRefusal` if so many further accounts or addresses are more than a wallet may recognise: callers can ask
 * for them again and again.
 */
function checkRoom(
  { state, subaddresses }: Pick<Wallet, "state" | "subaddresses">,
  { accounts = 0, addresses = 0 }: { readonly accounts?: number; readonly addresses?: number },
): void {
  const { lookahead } = subaddresses;
  const used = state.accounts.reduce((sum, account) => sum + account.addresses.length, 0);
  const most = state.accounts.length + accounts + lookahead.accounts;
  if (used + addresses + most * lookahead.addresses <= MAX_RECOGNISED) return;
  throw new WalletRefusal(
    "UNKNOWN_ERROR",
    `a wallet has at most ${MAX_RECOGNISED} addresses, with its look-ahead in each account`,
  );
}

function checkForeignAddresses({ state }: Wallet, major: number, minors: readonly number[]): void {
  const owned = state.accounts[major]?.addresses.length ?? 0;
  if (minors.filter((minor) => minor >= owned).length > MAX_FOREIGN_ADDRESSES) {
    throw new WalletRefusal(
      "ADDRESS_INDEX_OUT_OF_BOUNDS",
      `more than ${MAX_FOREIGN_ADDRESSES} address indices are out of bound`,
    );
  }
}

function labelOf(wallet: Wallet, { major, minor }: SubaddressIndex): string {
  return wallet.state.accounts[major]?.addresses[minor]?.label ?? "";
}

function addressBalance(
  wallet: Wallet,
  index: SubaddressIndex,
  { entry, unspent }: { readonly entry: AddressBalance | undefined; readonly unspent: number },
) {
  return {
    account_index: index.major,
    address: wallet.addressOf(index),
    address_index: index.minor,
    balance: entry?.balance ?? 0n,
    blocks_to_unlock: entry?.blocksToUnlock ?? 0,
    label: labelOf(wallet, index),
    num_unspent_outputs: unspent,
    time_to_unlock: entry?.secondsToUnlock ?? 0n,
    unlocked_balance: entry?.unlocked ?? 0n,
  };
}

function tagsOf({ state }: Wallet) {
  const byTag = new Map<string, number[]>();
  for (const [index, { tag }] of state.accounts.entries()) {
    const indices = byTag.get(tag);
    if (indices === undefined) byTag.set(tag, [index]);
    else indices.push(index);
  }
  return [...state.accountTags]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([tag, label]) => ({ tag, label, accounts: byTag.get(tag) ?? [] }));
}

async function tagAccounts(wallet: Wallet, accounts: readonly number[], tag: string): Promise<void> {
  await storeText({ wallet, what: "tag", text: tag, copies: accounts.length }, async () => {
    if (accounts.some((account) => account >= wallet.state.accounts.length)) {
      throw new WalletRefusal("UNKNOWN_ERROR", "Account index out of bound");
    }
    await wallet.commit({ kind: "tag", accounts, tag });
  });
}

/** Networks whose addresses are tried, with the names that callers know; regtest addresses equal those of mainnet. */
const namedNetworks = ["mainnet", "testnet", "stagenet"] as const;

function validated(text: string, networks: readonly (typeof namedNetworks)[number][]) {
  const none = { valid: false, integrated: false, subaddress: false, nettype: "", openalias_address: "" };
  try {
    const address = parseAddress(text);
    const nettype = networks.find((network) => address.networks.includes(network));
    if (nettype === undefined) return none;
    const { kind } = address;
    return {
      ...none,
      valid: true,
      integrated: kind === "integrated",
      subaddress: kind === "subaddress",
      nettype,
    };
  } catch (error) {
    if (error instanceof BadAddress) return none;
    throw error;
  }
}

function networkOf(opened: OpenWallet | undefined): (typeof namedNetworks)[number] {
  if (opened === undefined) throw new WalletRefusal("NOT_OPEN", "No wallet file");
  const { network } = opened.wallet;
  return network === "regtest" ? "mainnet" : network;
}

type BalanceParams = ParamsOf<typeof declared.accounts.getBalance>;

async function describeBalance(
  wallet: Wallet,
  { account_index, address_indices, all_accounts, strict }: BalanceParams,
) {
  const majors = all_accounts ? wallet.state.accounts.map((_, major) => major) : [account_index];
  const balances = majors.map((major) => ({ major, balance: balanceOf(wallet, major, strict) }));
  const { outputs } = wallet.state;
  const isImportNeeded = wallet.signer.kind === "multisig" && outputs.withKeyImage < outputs.count;
  const indices =
    !all_accounts && address_indices.length > 0
      ? [...new Set(address_indices)].sort((a, b) => a - b)
      : undefined;
  if (indices !== undefined) checkForeignAddresses(wallet, account_index, indices);
  const entries = balances.flatMap(({ major, balance: { addresses, unspentOutputs } }) => {
    const byMinor = new Map(addresses.map((entry) => [entry.minor, entry]));
    return (indices ?? [...byMinor.keys()]).map((minor) => ({
      index: { major, minor },
      entry: byMinor.get(minor),
      unspent: unspentOutputs.get(minor) ?? 0,
    }));
  });
  await wallet.prepareAddresses(entries.map(({ index }) => index));
  return {
    balance: balances.reduce((sum, { balance }) => sum + balance.balance, 0n),
    unlocked_balance: balances.reduce((sum, { balance }) => sum + balance.unlocked, 0n),
    blocks_to_unlock: balances.reduce((most, { balance }) => Math.max(most, balance.blocksToUnlock), 0),
    time_to_unlock: balances.reduce((most, { balance }) => later(most, balance.secondsToUnlock), 0n),
    multisig_import_needed: isImportNeeded,
    per_subaddress: entries.map(({ index, ...rest }) => addressBalance(wallet, index, rest)),
  };
}

type AddressParams = ParamsOf<typeof declared.accounts.getAddress>;

type ListedAddress = { readonly minor: number; readonly label: string; readonly used: boolean };

/** The requested addresses with the wallet's data about them; pauses in between. */
function* listAddresses(
  wallet: Wallet,
  { account_index: major, address_index }: AddressParams,
): Generator<void, ListedAddress[]> {
  checkAccount(wallet, major);
  const { addresses } = wallet.state.accounts[major]!;
  const minors = address_index.length > 0 ? address_index : addresses.keys();
  const used = wallet.state.outputs.sumsOf(major);
  const listed: ListedAddress[] = [];
  for (const minor of minors) {
    checkAddress(wallet, { major, minor });
    listed.push({ minor, label: addresses[minor]!.label, used: used.has(minor) });
    yield;
  }
  return listed;
}

async function describeAddresses(wallet: Wallet, major: number, addresses: readonly ListedAddress[]) {
  await wallet.prepareAddresses(addresses.map(({ minor }) => ({ major, minor })));
  return {
    address: wallet.addressOf({ major, minor: 0 }),
    addresses: drawn(addresses, ({ minor, label, used }) => ({
      address: wallet.addressOf({ major, minor }),
      address_index: minor,
      label,
      used,
    })),
  };
}

/** Maximum number of addresses that are listed, and compared with those of before, in one turn of the event loop. */
const MAX_COMPARED = 4096;

/**
 * Cached by its values, since a scan changes the wallet often, but its addresses hardly ever; very many are listed anew,
 * with pauses.
 */
function rememberedAddresses(wallet: Wallet, params: AddressParams) {
  const { account_index: major, address_index } = params;
  const count = address_index.length || (wallet.state.accounts[major]?.addresses.length ?? 0);
  const list = () => runSliced(listAddresses(wallet, params));
  const describe = async (addresses: MaybePromise<ListedAddress[]>) =>
    await describeAddresses(wallet, major, await addresses);
  if (count > MAX_COMPARED)
    return rememberedPatiently(wallet, { name: "getAddress", params }, () => describe(list()));
  let addresses: ListedAddress[] | undefined;
  const addressesOnce = () => (addresses ??= endOf(listAddresses(wallet, params)));
  const basis = () => addressesOnce().flatMap(({ minor, label, used }) => [minor, label, used]);
  return rememberedPatiently(wallet, { name: "getAddress", params, basis }, () => describe(addressesOnce()));
}

/** What a generator returns, without pauses. */
function endOf<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Tags of accounts that match a pattern; undefined if the pattern is invalid. */
function tagsThatFit({ state, runtime }: Wallet, pattern: string): Promise<ReadonlySet<string> | undefined> {
  const tags = [...new Set(state.accounts.map((account) => account.tag))];
  return runtime.threads.run("matchTags", { pattern, tags });
}

export const accountHandlers = implementFor<WalletContext>()(declared.accounts, {
  getBalance: (params, { opened: { wallet } }) =>
    // An unconfirmed payment to an own address counts once that address is recognised, so the cache depends on the
    // reach.
    rememberedPatiently(wallet, { name: "getBalance", params: { ...params, reach: wallet.reach } }, () =>
      describeBalance(wallet, params),
    ),
  getAddress: (params, { opened: { wallet } }) => rememberedAddresses(wallet, params),
  async getAddressIndex({ address }, { opened: { wallet } }) {
    await wallet.whenReady();
    const index = wallet.indexOf(address);
    if (index !== undefined) return { index };
    const { valid } = validated(address, [wallet.network === "regtest" ? "mainnet" : wallet.network]);
    throw new WalletRefusal(
      "WRONG_ADDRESS",
      valid ? "Address doesn't belong to the wallet" : "Invalid address",
    );
  },
  async createAddress({ account_index, label, count }, { opened: { wallet } }) {
    if (count < 1 || count > MAX_ADDRESSES_PER_CALL) {
      throw new WalletRefusal("UNKNOWN_ERROR", `Count must be between 1 and ${MAX_ADDRESSES_PER_CALL}.`);
    }
    const minors = await storeText({ wallet, what: "label", text: label, copies: count }, async () => {
      checkAccount(wallet, account_index);
      checkRoom(wallet, { addresses: count });
      return await wallet.createAddresses(account_index, label, count);
    });
    await wallet.prepareAddresses(minors.map((minor) => ({ major: account_index, minor })));
    const addresses = minors.map((minor) => wallet.addressOf({ major: account_index, minor }));
    return { address: addresses[0]!, address_index: minors[0]!, address_indices: minors, addresses };
  },
  async labelAddress({ index, label }, { opened: { wallet } }) {
    await storeText({ wallet, what: "label", text: label }, async () => {
      checkAddress(wallet, index);
      await wallet.commit({ kind: "label", index, label });
    });
    return {};
  },
  async validateAddress({ address, any_net_type, allow_openalias }, { service }) {
    const networks = any_net_type ? namedNetworks : [networkOf(service.opened)];
    const asWritten = validated(address, networks);
    if (asWritten.valid || !allow_openalias) return asWritten;
    const alias = await findAlias(address, service);
    if (alias?.isProven !== true) return asWritten;
    const resolved = validated(alias.address, networks);
    return { ...resolved, openalias_address: resolved.valid ? alias.address : "" };
  },
  async getAccounts({ tag, strict_balances, regexp }, { opened: { wallet } }) {
    const { accountTags } = wallet.state;
    if (tag !== "" && !regexp && !accountTags.has(tag)) {
      throw new WalletRefusal("UNKNOWN_ERROR", `Tag ${tag} is unregistered.`);
    }
    const tags = tag !== "" && regexp ? await tagsThatFit(wallet, tag) : new Set([tag]);
    const indices = wallet.state.accounts.flatMap((account, major) =>
      tag === "" || tags?.has(account.tag) === true ? [{ major, minor: 0 }] : [],
    );
    await wallet.prepareAddresses(indices);
    const matches = await mapSliced(indices, (index) => {
      const account = wallet.state.accounts[index.major]!;
      const { balance, unlocked } = balanceOf(wallet, index.major, strict_balances);
      return {
        account_index: index.major,
        balance,
        base_address: wallet.addressOf(index),
        label: account.addresses[0]!.label,
        tag: account.tag,
        unlocked_balance: unlocked,
      };
    });
    if (regexp && matches.length === 0) {
      throw new WalletRefusal("UNKNOWN_ERROR", `No matches for regex filter ${tag} .`);
    }
    return {
      subaddress_accounts: matches,
      total_balance: matches.reduce((sum, { balance }) => sum + balance, 0n),
      total_unlocked_balance: matches.reduce((sum, entry) => sum + entry.unlocked_balance, 0n),
    };
  },
  async createAccount({ label }, { opened: { wallet } }) {
    const major = await storeText({ wallet, what: "label", text: label }, async () => {
      checkRoom(wallet, { accounts: 1 });
      return await wallet.createAccount(label);
    });
    return { account_index: major, address: wallet.addressOf({ major, minor: 0 }) };
  },
  async labelAccount({ account_index, label }, { opened: { wallet } }) {
    await storeText({ wallet, what: "label", text: label }, async () => {
      checkAccount(wallet, account_index);
      await wallet.commit({ kind: "label", index: { major: account_index, minor: 0 }, label });
    });
    return {};
  },
  getAccountTags: (_, { opened: { wallet } }) => ({ account_tags: tagsOf(wallet) }),
  async tagAccounts({ tag, accounts }, { opened: { wallet } }) {
    await tagAccounts(wallet, accounts, tag);
    return {};
  },
  async untagAccounts({ accounts }, { opened: { wallet } }) {
    await tagAccounts(wallet, accounts, "");
    return {};
  },
  async setAccountTagDescription({ tag, description }, { opened: { wallet } }) {
    await storeText({ wallet, what: "description", text: description }, async () => {
      if (tag === "") throw new WalletRefusal("UNKNOWN_ERROR", "Tag must not be empty");
      if (!wallet.state.accountTags.has(tag)) throw new WalletRefusal("UNKNOWN_ERROR", "Tag is unregistered");
      await wallet.commit({ kind: "tagDescription", tag, description });
    });
    return {};
  },
  getHeight(_, { opened: { wallet }, dialect }) {
    const { height, progress } = wallet;
    if (progress === undefined || dialect === "upstream") return { height };
    return {
      height,
      scan_blocks_per_second: progress.blocksPerSecond,
      scan_seconds_left: progress.secondsLeft,
      scan_target_height: progress.targetHeight,
    };
  },
});
