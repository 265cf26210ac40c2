import { BadRequest } from "../errors.ts";
import { text, u64, uint32 } from "../schema/scalars.ts";
import type { Schema } from "../schema/schema.ts";
import { switched, wireForm } from "../schema/switched.ts";

const IPV4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

/** `a.b.c.d` as the services write it in `ip`: the first part is the lowest byte. Undefined for other text. */
export function ipv4Number(host: string): number | undefined {
  const parts = IPV4.exec(host)?.slice(1).map(Number);
  if (parts === undefined || parts.some((part) => part > 255)) return undefined;
  return parts.reduceRight((number, part) => number * 256 + part, 0);
}

/** The reverse of `ipv4Number`. */
export function ipv4Text(ip: number): string {
  return [0, 8, 16, 24].map((shift) => (ip >>> shift) & 255).join(".");
}

/** An IPv4 address as a number, any other as text. */
const hostNumber: Schema<string> = {
  ...text,
  read: (value, reading) => {
    if (typeof value === "string") throw new BadRequest("not a number");
    return ipv4Text(uint32.read(value, reading));
  },
  write: (host, dialect, indent) => {
    const number = ipv4Number(host);
    return number === undefined ? text.write(host, dialect, indent) : uint32.write(number, dialect, indent);
  },
  put: (host, out, indent) => out.text(hostNumber.write(host, out.dialect, indent)),
  describe: uint32.describe,
};

const same = <T>(value: T): T => value;

/** Difference S8: `host` as a number or as text. */
export const peerHost = switched<string>({
  contract: wireForm({ schema: hostNumber, toWire: same, fromWire: same }),
  upstream: wireForm<string, string>({ schema: text, toWire: same, fromWire: same }),
});

/** Difference S8: `id` as decimal text or as a number. */
export const peerId = switched<bigint>({
  contract: wireForm({ schema: text, toWire: String, fromWire: parsePeerId }),
  upstream: wireForm({ schema: u64, toWire: same, fromWire: same }),
});

function parsePeerId(digits: string): bigint {
  if (!/^[0-9]{1,20}$/.test(digits)) throw new BadRequest("not a peer id");
  return BigInt(digits);
}
