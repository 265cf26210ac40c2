import { createCipheriv, createDecipheriv, createHmac, randomFillSync } from "node:crypto";
import { wipe } from "./wipe.ts";

const SALT_BYTES = 32;
const TAG_BYTES = 16;

/** Every key is used for one message only, so all messages can have the same nonce. */
const NONCE = Buffer.alloc(12);
const CIPHER = "aes-256-gcm";
const OPTIONS = { authTagLength: TAG_BYTES };

/** HMAC-SHA256 of all parts, 32 bytes. The parts before the last must have lengths known to both sides. */
export function keyedHash(key: Uint8Array, ...parts: readonly (Uint8Array | string)[]): Buffer {
  const hmac = createHmac("sha256", key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

const FIRST_SALTS = 4;

/**
 * Random salts, each returned once: generating many at a time costs little more than one, and as many are kept as were
 * of use, since most of many wallets seal little.
 */
export class Salts {
  readonly #most: number;
  #bytes = Buffer.alloc(0);
  #at = 0;

  /** `most`: salts that are generated at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  /** 32 bytes, to be used before the next call. */
  next(): Buffer {
    if (this.#at === this.#bytes.length) this.#fillAgain();
    this.#at += SALT_BYTES;
    return this.#bytes.subarray(this.#at - SALT_BYTES, this.#at);
  }

  #fillAgain(): void {
    const bytes = SALT_BYTES * Math.min(this.#most, FIRST_SALTS);
    const most = SALT_BYTES * this.#most;
    if (this.#bytes.length < most)
      this.#bytes = Buffer.alloc(Math.min(most, Math.max(bytes, 2 * this.#bytes.length)));
    randomFillSync(this.#bytes);
    this.#at = 0;
  }
}

/** The context that a sealed message is bound to. */
export interface SealContext {
  /** 32 bytes, secret. */
  readonly key: Uint8Array;
  /** Describes the message and its place; it cannot be opened for any other. */
  readonly place: Uint8Array;
  /** Further secret bytes needed to open it, always of one length for one kind of place. */
  readonly rowKey?: Uint8Array;
}

function messageKey({ key, place, rowKey = new Uint8Array() }: SealContext, salt: Uint8Array): Buffer {
  return keyedHash(key, salt, rowKey, place);
}

/**
 * Encrypts and authenticates a message: 32 random bytes (a salt), the ciphertext, a tag of 16 bytes. Its key is a hash
 * of the context's key, those bytes and the place, so no key is used twice, whatever copy of a store is restored.
 * Source: NIST SP 800-38D (AES-256-GCM), RFC 2104 (HMAC-SHA256).
 */
export function seal(context: SealContext, message: Uint8Array, salts = new Salts(1)): Buffer {
  const salt = salts.next();
  const key = messageKey(context, salt);
  const cipher = createCipheriv(CIPHER, key, NONCE, OPTIONS);
  cipher.setAAD(context.place, { plaintextLength: message.length });
  const sealed = Buffer.concat([salt, cipher.update(message), cipher.final(), cipher.getAuthTag()]);
  wipe(key);
  return sealed;
}

/** Decrypts a message; undefined if these bytes are not the output of `seal` for this context. */
export function unseal(context: SealContext, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < SALT_BYTES + TAG_BYTES) return undefined;
  const end = sealed.length - TAG_BYTES;
  const key = messageKey(context, sealed.subarray(0, SALT_BYTES));
  const decipher = createDecipheriv(CIPHER, key, NONCE, OPTIONS);
  wipe(key);
  decipher.setAAD(context.place, { plaintextLength: end - SALT_BYTES });
  decipher.setAuthTag(sealed.subarray(end));
  const message = decipher.update(sealed.subarray(SALT_BYTES, end));
  try {
    decipher.final();
    return message;
  } catch {
    wipe(message);
    return undefined;
  }
}
