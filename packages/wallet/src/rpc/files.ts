/** Creating, opening and closing wallet files. Declarations: @anulo/rpc wallet/files. */
import { wipe } from "@anulo/crypto";
import {
  type Address,
  BadAddress,
  BadHex,
  BadMnemonic,
  decodeMnemonic,
  encodeMnemonic,
  findLanguage,
  fromHex,
  type Language,
  languages,
  oldEnglish,
  parseAddress,
  removeSeedOffset,
} from "@anulo/protocol";
import { wallet as declared, implementFor, wrongWallet } from "@anulo/rpc";
import { changePassword, changeSettings } from "../file/change-wallet.ts";
import { type WalletPaths, walletExists, walletNames, walletPaths } from "../file/wallet-files.ts";
import {
  CREATED_FROM_KEYS,
  CREATED_FROM_SEED,
  checkKeysFit,
  createKeys,
  keysOfSeed,
  type NewWallet,
} from "../keys/wallet-keys.ts";
import { directoryOf } from "../many/common.ts";
import type { CheckOpen, WalletSlot } from "../many/slots.ts";
import { keysOfAccount } from "../multisig/account-keys.ts";
import { BadMultisigSeed, parseMultisigSeed } from "../multisig/seed.ts";
import { WalletRefusal } from "../refusal.ts";
import { demandLookahead, settingsOf } from "../scan/subaddress-table.ts";
import type { WalletContext } from "../service.ts";
import type { SpendKeys, WalletKeys } from "../state.ts";
import { isHash } from "./parse-hex.ts";

/** Maximum number of names in one response of `list_wallets`. */
const MAX_NAMES = 1000;

async function checkFree(paths: WalletPaths | undefined, refusal: WalletRefusal): Promise<void> {
  if (paths !== undefined && (await walletExists(paths))) throw refusal;
}

const alreadyExists = () => new WalletRefusal("UNKNOWN_ERROR", "Wallet already exists.");

function checkLanguage(name: string): string {
  const language = findLanguage(name);
  if (language === undefined) throw new WalletRefusal("UNKNOWN_ERROR", `Unknown language: ${name}`);
  return language.englishName;
}

async function makeAndOpen(
  service: WalletSlot,
  paths: WalletPaths | undefined,
  newWallet: NewWallet,
): Promise<string> {
  const { wallet } = await service.create(paths, newWallet);
  return wallet.addressOf({ major: 0, minor: 0 });
}

/** A new wallet can't have received payments yet, so it starts at the node's newest block. */
async function currentHeight(service: WalletSlot): Promise<number> {
  const daemon = service.connect();
  try {
    return (await daemon.getHeight()).height;
  } catch (error) {
    if (error instanceof WalletRefusal) return 0;
    throw error;
  } finally {
    daemon.close();
  }
}

function checkSecret(text: string, which: string): Uint8Array {
  if (!isHash(text)) throw new WalletRefusal("UNKNOWN_ERROR", `Failed to parse ${which} key secret key`);
  return fromHex(text);
}

function checkAddress(text: string, service: WalletSlot): Address {
  try {
    return parseAddress(text, service.openOptions.network);
  } catch (error) {
    if (error instanceof BadAddress)
      throw new WalletRefusal("UNKNOWN_ERROR", "Failed to parse public address");
    throw error;
  }
}

function checkMandatory(value: string, message: string): void {
  if (value === "") throw new WalletRefusal("UNKNOWN_ERROR", message);
}

/**
 * Name of the language in which a restored wallet's seed is shown: that of its seed, unless new seeds are no longer
 * written in it. Source: wallet_rpc_server.cpp `on_restore_deterministic_wallet`.
 */
function languageToWrite(ofSeed: Language, requestedLanguage: string): string {
  if (ofSeed !== oldEnglish) {
    if (requestedLanguage !== "") checkLanguage(requestedLanguage);
    return ofSeed.englishName;
  }
  const refuse = (why: string) =>
    new WalletRefusal("UNKNOWN_ERROR", `Wallet was using the old seed language${why}`);
  if (requestedLanguage === "") throw refuse(". You need to specify a new seed language.");
  const language = findLanguage(requestedLanguage);
  if (language === undefined) throw refuse(", and the specified new seed language is invalid.");
  return language.englishName;
}

function decodeSeed(text: string) {
  try {
    return decodeMnemonic(text);
  } catch (error) {
    if (!(error instanceof BadMnemonic)) throw error;
    throw new WalletRefusal("UNKNOWN_ERROR", "Electrum-style word list failed verification");
  }
}

/** The keys of a seed, which the caller wipes. Throws `WalletRefusal`. */
export function keysOfWords(words: string, offset: string): SpendKeys {
  return keysOfKey(decodeSeed(words).key, offset);
}

/** The keys of the key (32 bytes, which this wipes) that the words encode. */
function keysOfKey(key: Uint8Array, offset: string): SpendKeys {
  try {
    return keysOfSeed(offset === "" ? key : removeSeedOffset(key, offset));
  } finally {
    wipe(key);
  }
}

type Restored = {
  readonly keys: WalletKeys;
  readonly seedLanguage: string;
  /** The seed in today's words; empty if the keys have no mnemonic. */
  readonly words: string;
  readonly isDeprecated: boolean;
};

type SeedToRestore = { readonly seed: string; readonly seed_offset: string; readonly language: string };

/** The keys of an ordinary wallet; throws `WalletRefusal`. */
function restoreFromWords({ seed: text, seed_offset, language: requestedLanguage }: SeedToRestore): Restored {
  const { key, language, hasCheckWord } = decodeSeed(text);
  const seedLanguage = languageToWrite(language, requestedLanguage);
  const keys = keysOfKey(key, seed_offset);
  const words = encodeMnemonic(keys.spendSecret, seedLanguage);
  return { keys, seedLanguage, words, isDeprecated: !hasCheckWord || language === oldEnglish };
}

/** The keys of a multisig signer, which have no mnemonic; throws `WalletRefusal`. */
function restoreSigner({ seed, seed_offset }: SeedToRestore): Restored {
  const refuse = (message: string) => new WalletRefusal("UNKNOWN_ERROR", message);
  if (seed_offset !== "") throw refuse("Multisig seeds are not compatible with seed offsets");
  try {
    // The original takes a seed without check word for one of its first years, and reports it as deprecated.
    const origin = { seedLanguage: "", words: "", isDeprecated: true };
    return { keys: keysOfAccount(parseMultisigSeed(seed)), ...origin };
  } catch (error) {
    if (error instanceof BadHex) throw refuse("Multisig seed not represented as hexadecimal string");
    if (error instanceof BadMultisigSeed) throw refuse(error.message);
    throw error;
  }
}

/** A wallet outside a token's reach, opened while a call of the token waited, is neither replaced nor closed by it. */
function replacementCheck(token: WalletContext["token"]): CheckOpen | undefined {
  if (token === undefined) return undefined;
  return (openName) => {
    if (!token.mayUse(openName)) throw wrongWallet();
  };
}

export const fileHandlers = implementFor<WalletContext>()(declared.files, {
  getLanguages: () => ({
    languages: languages.map(({ englishName }) => englishName),
    languages_local: languages.map(({ name }) => name),
  }),
  createWallet: ({ filename, password, language }, { service, token }) =>
    service.makingInTurn(async () => {
      const paths = service.pathsOf(filename);
      const seedLanguage = checkLanguage(language);
      await checkFree(
        paths,
        new WalletRefusal("WALLET_ALREADY_EXISTS", "Cannot create wallet. Already exists."),
      );
      const refreshFromHeight = await currentHeight(service);
      const createdAt = BigInt(service.runtime.clock());
      await makeAndOpen(service, paths, {
        keys: createKeys(service.runtime.random),
        password,
        seedLanguage,
        refreshFromHeight,
        createdAt,
      });
      return {};
    }, replacementCheck(token)),
  async openWallet({ filename, password }, { service, token }) {
    await service.open(filename, password, replacementCheck(token));
    return {};
  },
  async closeWallet(_, { service, token }) {
    await service.close(replacementCheck(token));
    return {};
  },
  async listWallets({ after, limit }, { service, token }) {
    const directory = directoryOf(service);
    if (limit < 1 || limit > MAX_NAMES)
      throw new WalletRefusal("UNKNOWN_ERROR", `limit must be from 1 to ${MAX_NAMES}`);
    const accepts = (name: string) => token === undefined || token.covers(name);
    const names = await walletNames(directory, { after, limit: limit + 1, accepts });
    const wallets = names.slice(0, limit).map((name) => {
      const entry = service.wallets.at(walletPaths(directory, name));
      return { name, open: entry?.opened !== undefined };
    });
    return { wallets, more: names.length > limit };
  },
  changeWalletPassword: ({ old_password, new_password }, { service, opened }) =>
    service.inTurn(opened, async () => {
      await changePassword(opened, { old: old_password, new: new_password }, service.openOptions);
      service.keepOpen();
      return {};
    }),
  setSubaddressLookahead: ({ password, major_idx, minor_idx }, { service, opened }) =>
    service.inTurn(opened, async () => {
      const settings = () => settingsOf(demandLookahead(major_idx, minor_idx));
      await changeSettings(opened, { password, settings }, service.openOptions);
      await opened.wallet.setLookahead({ accounts: major_idx, addresses: minor_idx });
      return {};
    }),
  generateFromKeys: (params, { service, token }) =>
    service.makingInTurn(async () => {
      directoryOf(service);
      checkMandatory(
        params.viewkey,
        "field 'viewkey' is mandatory. Please provide a view key you want to restore from.",
      );
      checkMandatory(params.address, "field 'address' is mandatory. Please provide a public address.");
      const paths = service.pathsOf(params.filename);
      await checkFree(paths, alreadyExists());
      const { spendPublic, viewPublic } = checkAddress(params.address, service);
      const viewSecret = checkSecret(params.viewkey, "view");
      const spendSecret = params.spendkey === "" ? undefined : checkSecret(params.spendkey, "spend");
      const keys: WalletKeys = { spendPublic, viewPublic, viewSecret, spendSecret };
      checkKeysFit(keys);
      const language = params.language === "" ? undefined : findLanguage(params.language);
      if (params.language !== "" && language === undefined) {
        throw new WalletRefusal("UNKNOWN_ERROR", "The specified seed language is invalid.");
      }
      const address = await makeAndOpen(service, paths, {
        keys,
        password: params.password,
        seedLanguage: language?.englishName ?? "",
        refreshFromHeight: params.restore_height,
        createdAt: CREATED_FROM_KEYS,
      });
      const kind = spendSecret === undefined ? "Watch-only wallet" : "Wallet";
      return { address, info: `${kind} has been generated successfully.` };
    }, replacementCheck(token)),
  restoreDeterministicWallet: (params, { service, token }) =>
    service.makingInTurn(async () => {
      directoryOf(service);
      checkMandatory(
        params.seed,
        "field 'seed' is mandatory. Please provide a seed you want to restore from.",
      );
      const paths = service.pathsOf(params.filename);
      await checkFree(paths, alreadyExists());
      const restored = (params.enable_multisig_experimental ? restoreSigner : restoreFromWords)(params);
      const address = await makeAndOpen(service, paths, {
        keys: restored.keys,
        password: params.password,
        seedLanguage: restored.seedLanguage,
        refreshFromHeight: params.restore_height,
        createdAt: CREATED_FROM_SEED,
      });
      return {
        address,
        info: "Wallet has been restored successfully.",
        seed: restored.words,
        was_deprecated: restored.isDeprecated,
      };
    }, replacementCheck(token)),
});
