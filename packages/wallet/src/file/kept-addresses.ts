/**
 * What a wallet recognises its addresses by, in `<name>.anulo.addresses`: computing it takes far longer than reading it.
 * All of it follows from the view secret, by which it is sealed, so nothing is lost with the file, and one that can't be
 * read, or is of other keys or settings, counts as none.
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { wipe } from "@anulo/crypto";
import { AddressMarks } from "../scan/address-marks.ts";
import type { Lookahead } from "../scan/address-runs.ts";
import { type KeptMarks, readMarks, writeMarks } from "../scan/kept-marks.ts";
import { DEFAULT_LOOKAHEAD } from "../scan/subaddress-table.ts";
import type { WalletKeys, WalletState } from "../state.ts";
import type { Wallet } from "../wallet.ts";
import { addressesFileOf, type WalletPaths } from "./wallet-files.ts";

const PURPOSE = "anulo addresses of a wallet";
const CIPHER = "aes-256-gcm";
const SALT_BYTES = 32;
const TAG_BYTES = 16;
/** Each file has a key of its own, so that no nonce repeats. */
const NONCE = new Uint8Array(12);

type ViewKeys = Pick<WalletKeys, "viewSecret" | "spendPublic">;

export class KeptAddresses {
  readonly #path: string;
  readonly #keys: ViewKeys;
  /** Number of addresses in the file. */
  #written = 0;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(paths: WalletPaths, { viewSecret, spendPublic }: ViewKeys) {
    this.#path = addressesFileOf(paths);
    this.#keys = { viewSecret: viewSecret.slice(), spendPublic };
  }

  /** The marks in the file, if it fits the wallet. */
  async read(
    { accounts }: Pick<WalletState, "accounts">,
    lookahead: Lookahead = DEFAULT_LOOKAHEAD,
  ): Promise<KeptMarks | undefined> {
    const used = accounts.map(({ addresses }, major) => ({ major, minor: addresses.length - 1 }));
    const sealed = await readFile(this.#path).catch(() => undefined);
    const bytes = sealed && open(this.#keys, sealed);
    const table = bytes && readMarks(bytes, used, lookahead);
    this.#written = table?.ranges.reduce((sum, { count }) => sum + count, 0) ?? 0;
    return table;
  }

  /** Writes the file if it lacks addresses that the wallet recognises. Without it nothing is lost but time. */
  async write({ subaddresses }: Pick<Wallet, "subaddresses">): Promise<void> {
    if (this.#isClosed || !(subaddresses instanceof AddressMarks)) return;
    if (subaddresses.size === this.#written) return;
    this.#written = subaddresses.size;
    const sealed = seal(this.#keys, writeMarks(subaddresses));
    // Written in part, the file counts as none.
    this.#writing = this.#writing
      .then(() => writeFile(this.#path, sealed, { mode: 0o600 }))
      .catch(() => undefined);
    await this.#writing;
  }

  /** Writes the file once the wallet recognises all it has to. */
  writeWhenReady(wallet: Pick<Wallet, "subaddresses" | "whenReady">): void {
    void wallet.whenReady().then(
      () => this.write(wallet),
      () => undefined, // whoever needs the table gets the error there
    );
  }

  /** Resolves once the file is written; wipes the key. */
  async close(): Promise<void> {
    this.#isClosed = true;
    wipe(this.#keys.viewSecret);
    await this.#writing;
  }
}

function keyOf({ viewSecret, spendPublic }: ViewKeys, salt: Uint8Array): Uint8Array {
  const purpose = Buffer.concat([Buffer.from(PURPOSE), spendPublic]);
  return new Uint8Array(hkdfSync("sha256", viewSecret, salt, purpose, 32));
}

function seal(keys: ViewKeys, bytes: Uint8Array): Uint8Array {
  const salt = randomBytes(SALT_BYTES);
  const key = keyOf(keys, salt);
  const cipher = createCipheriv(CIPHER, key, NONCE, { authTagLength: TAG_BYTES });
  wipe(key);
  const sealed = cipher.update(bytes);
  cipher.final();
  return Buffer.concat([salt, cipher.getAuthTag(), sealed]);
}

function open(keys: ViewKeys, file: Uint8Array): Uint8Array | undefined {
  if (file.length < SALT_BYTES + TAG_BYTES) return undefined;
  const key = keyOf(keys, file.subarray(0, SALT_BYTES));
  const decipher = createDecipheriv(CIPHER, key, NONCE, { authTagLength: TAG_BYTES });
  wipe(key);
  decipher.setAuthTag(file.subarray(SALT_BYTES, SALT_BYTES + TAG_BYTES));
  const bytes = decipher.update(file.subarray(SALT_BYTES + TAG_BYTES));
  try {
    decipher.final();
    return bytes;
  } catch {
    return undefined;
  }
}
