/** A token: the text that its bearer sends, and what is stored of it. */

import { createHash } from "node:crypto";
import type { RandomSource } from "@anulo/crypto";
import { wipe } from "@anulo/crypto";
import { toHex } from "@anulo/protocol";
import type { Scope } from "@anulo/rpc";

/** Amounts in atomic units, times in seconds since 1970. */
export type TokenRecord = {
  /** 16 hexadecimal digits, which are not secret. */
  readonly id: string;
  /**
   * SHA-256 of the secret, 64 hexadecimal digits: the secret has 256 random bits and cannot be guessed, so no slower
   * hash is needed.
   */
  readonly hash: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Names of wallets; * stands for any characters. */
  readonly wallets: readonly string[];
  readonly created: number;
  /** 0 if it never expires. */
  readonly expires: number;
  /** Maximum amount that it may spend in an hour, and in a day; undefined if there is no cap. */
  readonly capHour: bigint | undefined;
  readonly capDay: bigint | undefined;
  /** 0 if it was never used; updated at most once an hour. */
  readonly lastUsed: number;
  /** 0 while it is not revoked. */
  readonly revoked: number;
};

const ID_BYTES = 8;
const SECRET_BYTES = 32;
/** The secret of 32 bytes has 43 characters of base64url. */
const TOKEN = /^anulo_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

/**
 * Creates a token: the text that a bearer sends, its public part, and the hash of its secret (64 hexadecimal digits).
 */
export function makeToken(random: RandomSource): { text: string; id: string; hash: string } {
  const id = toHex(random(ID_BYTES));
  const bytes = random(SECRET_BYTES);
  const secret = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64url");
  wipe(bytes);
  return { text: `anulo_${id}_${secret}`, id, hash: hashOf(secret).toString("hex") };
}

/** Splits a token into its parts; undefined for text that is not a token. */
export function readToken(text: string): { readonly id: string; readonly secret: string } | undefined {
  const parts = TOKEN.exec(text);
  return parts === null ? undefined : { id: parts[1]!, secret: parts[2]! };
}

export function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** The tokens as they are stored: JSON, with amounts as decimal text. */
export function serializeTokens(records: Iterable<TokenRecord>): string {
  const tokens = [...records].map(({ capHour, capDay, ...rest }) => ({
    ...rest,
    ...(capHour !== undefined && { capHour: `${capHour}` }),
    ...(capDay !== undefined && { capDay: `${capDay}` }),
  }));
  return `${JSON.stringify({ version: 1, tokens }, undefined, 1)}\n`;
}

type Kept = Omit<TokenRecord, "capHour" | "capDay"> & { capHour?: string; capDay?: string };

/** Throws if the text is not a list of tokens. */
export function parseTokens(text: string): TokenRecord[] {
  const { version, tokens } = JSON.parse(text) as { version: number; tokens: Kept[] };
  if (version !== 1) throw new Error(`tokens of version ${version} are not known`);
  return tokens.map(({ capHour, capDay, ...rest }) => ({
    ...rest,
    capHour: capHour === undefined ? undefined : BigInt(capHour),
    capDay: capDay === undefined ? undefined : BigInt(capDay),
  }));
}
