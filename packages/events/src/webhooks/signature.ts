import { createHmac } from "node:crypto";

const PREFIX = "whsec_";
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;
export const NEW_SECRET_BYTES = 32;

export const secretText = (bytes: Uint8Array): string => PREFIX + Buffer.from(bytes).toString("base64");

/**
 * Decodes the key of a secret `whsec_…`. Throws a RangeError that does not repeat the secret. Source: Standard
 * Webhooks, "Secrets".
 */
export function secretBytes(text: string): Buffer {
  const bytes = Buffer.from(text.slice(PREFIX.length), "base64");
  const isWhole = secretText(bytes) === text;
  if (!isWhole || bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES) {
    throw new RangeError("a secret is whsec_ and the base64 of 24 to 64 bytes");
  }
  return bytes;
}

export interface Message {
  readonly id: string;
  /** Seconds since 1970 of this attempt. */
  readonly timestamp: number;
  readonly body: string;
}

/**
 * The headers that identify and sign a message. Source: Standard Webhooks, "Webhook Metadata" and "Signature scheme".
 */
export function signedHeaders({ id, timestamp, body }: Message, secret: string): Record<string, string> {
  const key = secretBytes(secret);
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  key.fill(0);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,${signature}`,
  };
}
