/** A token: what its bearer knows of it, and what is kept. */
import { createHash } from "node:crypto";
import type { RandomSource } from "@anulo/crypto";
import { toHex } from "@anulo/protocol";
import type { Scope } from "@anulo/rpc";

/** Amounts in atomic units, times in seconds since 1970. */
export type TokenRecord = {
  /** 16 hexadecimal digits, which are no secret. */
  readonly id: string;
  /** SHA-256 of the secret, 64 hexadecimal digits: its 256 random bits are beyond guessing, so nothing slower is needed. */
  readonly hash: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Names of wallets, where * stands for any characters. */
  readonly wallets: readonly string[];
  readonly created: number;
  /** 0 for never. */
  readonly expires: number;
  /** The most it may spend in an hour, and in a day; undefined for no cap. */
  readonly capHour: bigint | undefined;
  readonly capDay: bigint | undefined;
  /** 0 for never; written down once an hour at most. */
  readonly lastUsed: number;
  /** 0 while it is not. */
  readonly revoked: number;
};

const ID_BYTES = 8;
const SECRET_BYTES = 32;
/** Of 32 bytes, the secret has 43 characters of base64url. */
const TOKEN = /^anulo_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

/** What a bearer sends, its public part, and what is kept of the rest (64 hexadecimal digits). */
export function makeToken(random: RandomSource): { text: string; id: string; hash: string } {
  const id = toHex(random(ID_BYTES));
  const bytes = random(SECRET_BYTES);
  const secret = Buffer.from(bytes).toString("base64url");
  bytes.fill(0);
  return { text: `anulo_${id}_${secret}`, id, hash: hashOf(secret).toString("hex") };
}

/** The parts of a token; undefined for a text that is none. */
export function readToken(text: string): { readonly id: string; readonly secret: string } | undefined {
  const parts = TOKEN.exec(text);
  return parts === null ? undefined : { id: parts[1]!, secret: parts[2]! };
}

export function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** As the tokens are kept: JSON, amounts as decimal texts. */
export function serializeTokens(records: Iterable<TokenRecord>): string {
  const tokens = [...records].map(({ capHour, capDay, ...rest }) => ({
    ...rest,
    ...(capHour !== undefined && { capHour: `${capHour}` }),
    ...(capDay !== undefined && { capDay: `${capDay}` }),
  }));
  return `${JSON.stringify({ version: 1, tokens }, undefined, 1)}\n`;
}

type Kept = Omit<TokenRecord, "capHour" | "capDay"> & { capHour?: string; capDay?: string };

/** Throws where the text is no list of tokens. */
export function parseTokens(text: string): TokenRecord[] {
  const { version, tokens } = JSON.parse(text) as { version: number; tokens: Kept[] };
  if (version !== 1) throw new Error(`tokens of version ${version} are not known`);
  return tokens.map(({ capHour, capDay, ...rest }) => ({
    ...rest,
    capHour: capHour === undefined ? undefined : BigInt(capHour),
    capDay: capDay === undefined ? undefined : BigInt(capDay),
  }));
}
