import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** A private key and a certificate for it, as PEM text. */
export type Identity = { readonly privateKey: string; readonly certificate: string };

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;

const COMMON_NAME = Buffer.from("0603550403", "hex");
const ECDSA_WITH_SHA256 = Buffer.from("06082a8648ce3d040302", "hex");
const DAY_MS = 24 * 60 * 60 * 1000;
const VALID_DAYS = 3650;

/** One DER value: tag, length, content. Source: ITU-T X.690. */
function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const { length } = body;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

function utcTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, "");
  return der(UTC_TIME, Buffer.from(digits.slice(2)));
}

function pem(kind: string, bytes: Buffer): string {
  const lines = bytes.toString("base64").replace(/.{64}/g, "$&\n");
  return `-----BEGIN ${kind}-----\n${lines}\n-----END ${kind}-----\n`;
}

/**
 * A P-256 key with a self-signed certificate, valid for ten years from yesterday (`nowMs`). Clients cannot verify its
 * owner, but the connection is encrypted. Source: RFC 5280, section 4.1; RFC 5758.
 */
export function createIdentity(nowMs: number): Identity {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256);
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from("anulo")))));
  // The first bit of an integer is its sign.
  const serial = Buffer.concat([Buffer.from([0x01]), randomBytes(15)]);
  const validity = der(SEQUENCE, utcTime(nowMs - DAY_MS), utcTime(nowMs + VALID_DAYS * DAY_MS));
  const key = publicKey.export({ type: "spki", format: "der" });
  const facts = der(SEQUENCE, der(INTEGER, serial), algorithm, name, validity, name, key);
  const signature = sign("sha256", facts, privateKey);
  const certificate = der(SEQUENCE, facts, algorithm, der(BIT_STRING, Buffer.from([0]), signature));
  return {
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    certificate: pem("CERTIFICATE", certificate),
  };
}
