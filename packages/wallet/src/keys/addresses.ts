/** Addresses of one wallet as text. */
import { subaddressKeys } from "@anulo/crypto";
import { formatAddress } from "@anulo/protocol";
import type { NetworkName, SubaddressIndex, WalletKeys } from "../state.ts";

/** Turns indices into addresses and remembers them: each costs two multiplications of a point. */
export class AddressCache {
  readonly #keys: WalletKeys;
  readonly #network: NetworkName;
  readonly #known = new Map<string, string>();

  constructor(keys: WalletKeys, network: NetworkName) {
    this.#keys = keys;
    this.#network = network;
  }

  addressOf({ major, minor }: SubaddressIndex): string {
    const key = `${major}/${minor}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const kind = major === 0 && minor === 0 ? "standard" : "subaddress";
    const address = formatAddress({ kind, ...subaddressKeys(this.#keys, major, minor) }, this.#network);
    this.#known.set(key, address);
    return address;
  }
}
