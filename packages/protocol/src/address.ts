import { concatBytes, equalBytes, isPoint, keccak256 } from "@anulo/crypto";
import { decodeBase58, encodeBase58 } from "./codec/base58.ts";
import { BadBytes, Reader, Writer } from "./codec/bytes-io.ts";
import type { NetworkName } from "./networks.ts";
import { networks } from "./networks.ts";

/** Text that is not an address, or not one of the expected network. */
export class BadAddress extends Error {
  override name = "BadAddress";
}

type PublicKeys = { readonly spendPublic: Uint8Array; readonly viewPublic: Uint8Array };

/** The destination of a payment: two public keys (32 bytes each), integrated with a payment id (8 bytes). */
export type Address =
  | ({ readonly kind: "standard" | "subaddress" } & PublicKeys)
  | ({ readonly kind: "integrated"; readonly paymentId: Uint8Array } & PublicKeys);
export type AddressKind = Address["kind"];

const CHECKSUM_BYTES = 4;
/** Longer texts are no addresses: an integrated one has 106 letters. */
const MAX_TEXT_LENGTH = 200;
const kinds: readonly AddressKind[] = ["standard", "integrated", "subaddress"];

/** Formats an address. Source: cryptonote_basic_impl.cpp `get_account_address_as_str`; base58.cpp `encode_addr`. */
export function formatAddress(address: Address, network: NetworkName): string {
  const writer = new Writer(96);
  writer.writeVarint(networks[network].addressPrefixes[address.kind]);
  writer.writeBytes(address.spendPublic);
  writer.writeBytes(address.viewPublic);
  if (address.kind === "integrated") writer.writeBytes(address.paymentId);
  const content = writer.finish();
  return encodeBase58(concatBytes(content, keccak256(content).subarray(0, CHECKSUM_BYTES)));
}

function decodeChecked(text: string): Reader {
  if (text.length > MAX_TEXT_LENGTH) throw new BadAddress("too long for an address");
  const bytes = decodeBase58(text);
  if (bytes.length <= CHECKSUM_BYTES) throw new BadAddress("too short for an address");
  const content = bytes.slice(0, -CHECKSUM_BYTES);
  const checksum = keccak256(content).subarray(0, CHECKSUM_BYTES);
  if (!equalBytes(checksum, bytes.subarray(-CHECKSUM_BYTES))) throw new BadAddress("checksum does not match");
  return new Reader(content);
}

function meaningOf(prefix: number): { networks: NetworkName[]; kind: AddressKind } | undefined {
  const all = Object.values(networks);
  const kind = kinds.find((candidate) =>
    all.some(({ addressPrefixes }) => addressPrefixes[candidate] === prefix),
  );
  if (kind === undefined) return undefined;
  const matching = all.filter(({ addressPrefixes }) => addressPrefixes[kind] === prefix);
  return { networks: matching.map(({ name }) => name), kind };
}

function readAddress(reader: Reader): Address & { networks: NetworkName[] } {
  const meaning = meaningOf(reader.readVarint());
  if (meaning === undefined) throw new BadAddress("unknown address prefix");
  const spendPublic = reader.readBytes(32);
  const viewPublic = reader.readBytes(32);
  const rest = reader.readBytes(reader.remaining);
  if (rest.length !== (meaning.kind === "integrated" ? 8 : 0)) throw new BadAddress("wrong length");
  if (!isPoint(spendPublic) || !isPoint(viewPublic)) throw new BadAddress("not public keys");
  const address = { networks: meaning.networks, spendPublic, viewPublic };
  return meaning.kind === "integrated"
    ? { ...address, kind: "integrated", paymentId: rest }
    : { ...address, kind: meaning.kind };
}

/**
 * Parses an address; returns it with the networks that use its prefix (regtest uses that of mainnet). Throws
 * `BadAddress`, also when it is not one of `network`. Source: cryptonote_basic_impl.cpp `get_account_address_from_str`.
 */
export function parseAddress(text: string, network?: NetworkName): Address & { networks: NetworkName[] } {
  try {
    const address = readAddress(decodeChecked(text));
    if (network !== undefined && !address.networks.includes(network)) {
      throw new BadAddress(`not an address of ${network}`);
    }
    return address;
  } catch (error) {
    throw error instanceof BadBytes ? new BadAddress(error.message) : error;
  }
}
