/** Secrets, and where in a text one of them can be seen. */

/** A secret with its kind, as bytes or as the text it is written in. */
export type Secret = { readonly kind: SecretKind; readonly value: Uint8Array | string };

export type SecretKind =
  | "seed"
  | "spend key"
  | "view key"
  | "transaction key"
  | "multisig key"
  | "multisig nonce"
  | "wallet password"
  | "login password"
  | "TLS private key"
  | "seed offset";

/** Words of a seed in a row that give it away. */
const WORDS_IN_A_ROW = 4;

function formsOfBytes(bytes: Buffer): string[] {
  const hex = bytes.toString("hex");
  const numbers = [...bytes];
  return [
    hex,
    hex.toUpperCase(),
    Buffer.from(bytes).reverse().toString("hex"),
    bytes.toString("base64").replace(/=+$/, ""),
    bytes.toString("base64url"),
    numbers.join(","),
    numbers.join(", "),
    // As inspection of a byte array or JSON of a Buffer shows it, in part.
    numbers.slice(0, 8).join(", "),
    JSON.stringify(Object.fromEntries(numbers.slice(0, 8).map((byte, i) => [i, byte]))).slice(1, -1),
  ];
}

function formsOfText(text: string): string[] {
  const bytes = Buffer.from(text);
  const words = text.split(" ");
  const runs = words.length < 2 * WORDS_IN_A_ROW ? [] : words.slice(WORDS_IN_A_ROW - 1).map((_, i) => i);
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
    bytes.toString("hex"),
    bytes.toString("base64").replace(/=+$/, "").slice(0, -1),
    ...runs.map((i) => words.slice(i, i + WORDS_IN_A_ROW).join(" ")),
  ];
}

/** Every way in which one of these secrets would be seen. */
export function formsOf({ value }: Secret): string[] {
  return typeof value === "string" ? formsOfText(value) : formsOfBytes(Buffer.from(value));
}

/** Kinds of the secrets that can be seen in a text. */
export function seenIn(text: string, secrets: readonly Secret[]): Set<SecretKind> {
  const found = secrets.filter((secret) => formsOf(secret).some((form) => text.includes(form)));
  return new Set(found.map(({ kind }) => kind));
}
