import {
  checkSignature,
  IDENTITY,
  isInMainSubgroup,
  isPoint,
  keccak256,
  publicKeyOf,
  signMessageHash,
} from "@anulo/crypto";
import {
  BadBytes,
  bytes,
  bytes32,
  type Codec,
  decode,
  decodeBase58,
  encode,
  encodeBase58,
  equalBytes,
  list,
  struct,
  varint,
} from "@anulo/protocol";

/** The message of a signer to the others in one round. Keys are 32 bytes. Source: multisig_kex_msg.h. */
export interface KeyExchangeMessage {
  /** Starts at 1. */
  readonly round: number;
  readonly signer: Uint8Array;
  /** The signer's part of the common view key; in round 1 only. */
  readonly commonSecret: Uint8Array | undefined;
  /** Keys that the signer recommends; none in round 1, in which the signer's own key is used. */
  readonly keys: readonly Uint8Array[];
}

/** Text that is not a message of a key exchange, or whose signature is not that of the named signer. */
export class BadKeyExchangeMessage extends Error {
  override name = "BadKeyExchangeMessage";
}

const firstMagic = "MultisigxV2R1";
const laterMagic = "MultisigxV2Rn";
/** More keys than 16 signers can have between them: 15 choose 7. */
const MAX_KEYS = 6435;
const MAX_LETTERS = firstMagic.length + Math.ceil(((MAX_KEYS * 32 + 128) * 11) / 8);

interface First {
  commonSecret: Uint8Array;
  signer: Uint8Array;
  signature: Uint8Array;
}
const first: Codec<First> = struct()
  .field("commonSecret", bytes32)
  .field("signer", bytes32)
  .field("signature", bytes(64));
const later = struct()
  .field("round", varint)
  .field("keys", list(bytes32))
  .field("signer", bytes32)
  .field("signature", bytes(64));

/** The hash that is signed. Source: multisig_kex_msg.cpp `get_msg_to_sign`. */
function signedHash({ round, signer, commonSecret, keys }: KeyExchangeMessage): Uint8Array {
  const roundBytes = new Uint8Array(4);
  new DataView(roundBytes.buffer).setUint32(0, round, true);
  const magic = new TextEncoder().encode(round === 1 ? firstMagic : laterMagic);
  return keccak256(magic, roundBytes, signer, ...(commonSecret === undefined ? keys : [commonSecret]));
}

/** The text of a message, signed with the signer's base secret (32 bytes). */
export function formatKeyExchangeMessage(
  message: Omit<KeyExchangeMessage, "signer">,
  baseSecret: Uint8Array,
): string {
  const signer = publicKeyOf(baseSecret);
  const { round, keys, commonSecret } = message;
  const signature = signMessageHash(signedHash({ ...message, signer }), signer, baseSecret);
  if (commonSecret !== undefined) {
    return `${firstMagic}${encodeBase58(encode(first, { commonSecret, signer, signature }))}`;
  }
  return `${laterMagic}${encodeBase58(encode(later, { round, keys: [...keys], signer, signature }))}`;
}

/**
 * Parses a message and checks its keys and signature; throws BadKeyExchangeMessage. Every key costs a multiplication of
 * a point.
 */
export function parseKeyExchangeMessage(text: string): KeyExchangeMessage {
  const { signature, ...message } = readMessage(text);
  for (const key of message.keys) checkKey(key, "a key of the message");
  checkKey(message.signer, "the signer's key");
  if (!checkSignature(signedHash(message), message.signer, signature)) {
    throw new BadKeyExchangeMessage("the signature of the multisig string does not hold");
  }
  return message;
}

/** The round and number of keys that a message claims, before it is checked; throws BadKeyExchangeMessage. */
export function claimOfMessage(text: string): { readonly round: number; readonly keyCount: number } {
  const { round, keys } = readMessage(text);
  return { round, keyCount: keys.length };
}

function readMessage(text: string): KeyExchangeMessage & { signature: Uint8Array } {
  const magic = text.slice(0, firstMagic.length);
  if (magic !== firstMagic && magic !== laterMagic) {
    throw new BadKeyExchangeMessage("not a multisig string of the second version");
  }
  if (text.length > MAX_LETTERS) throw new BadKeyExchangeMessage("the multisig string is too long");
  try {
    const content = decodeBase58(text.slice(magic.length));
    if (magic === firstMagic) return { ...decode(first, content), round: 1, keys: [] };
    const message = decode(later, content);
    if (message.round < 2) throw new BadBytes("round 1 has messages of its own");
    if (message.keys.length > MAX_KEYS) throw new BadBytes(`more than ${MAX_KEYS} keys`);
    return { ...message, commonSecret: undefined };
  } catch (error) {
    if (!(error instanceof BadBytes)) throw error;
    throw new BadKeyExchangeMessage(`the multisig string cannot be read: ${error.message}`);
  }
}

function checkKey(key: Uint8Array, role: string): void {
  if (!isPublicKey(key)) throw new BadKeyExchangeMessage(`${role} is not one`);
}

/** Whether 32 bytes are the public key of some secret other than zero. */
export function isPublicKey(key: Uint8Array): boolean {
  return !equalBytes(key, IDENTITY) && isPoint(key) && isInMainSubgroup(key);
}
