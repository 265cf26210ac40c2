/** Parses IPv4 text `a.b.c.d` (decimal, no leading zeros) to 4 bytes; undefined for anything else. */
export function parseIpv4(text: string): Uint8Array | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const numbers = parts.map(Number);
  return numbers.every((number) => number <= 255) ? Uint8Array.from(numbers) : undefined;
}

/** Parses the 16-bit groups on one side of `::`; the last group may be IPv4 text. */
function groupsOf(text: string): number[] | undefined {
  if (text === "") return [];
  const words = text.split(":");
  const groups: number[] = [];
  for (const [i, word] of words.entries()) {
    const ipv4 = i === words.length - 1 && word.includes(".") ? parseIpv4(word) : undefined;
    if (ipv4 !== undefined) groups.push(ipv4[0]! * 256 + ipv4[1]!, ipv4[2]! * 256 + ipv4[3]!);
    else if (/^[0-9a-fA-F]{1,4}$/.test(word)) groups.push(Number.parseInt(word, 16));
    else return undefined;
  }
  return groups;
}

/** Parses IPv6 text, without zone index, to 16 bytes; undefined for anything else. Source: RFC 4291, 2.2. */
export function parseIpv6(text: string): Uint8Array | undefined {
  const sides = text.split("::");
  if (sides.length > 2 || text.length > 45) return undefined;
  const [head, tail] = sides.map(groupsOf);
  if (head === undefined || (sides.length === 2 && tail === undefined)) return undefined;
  const groupCount = head.length + (tail?.length ?? 0);
  if (tail === undefined ? groupCount !== 8 : groupCount > 7) return undefined;
  const groups = [...head, ...new Array<number>(8 - groupCount).fill(0), ...(tail ?? [])];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

/** Formats four bytes as IPv4 text. */
export function formatIpv4(bytes: Uint8Array): string {
  return bytes.join(".");
}

/** Formats 16 bytes as IPv6 text: lower case, the first longest run of zero groups as `::`. Source: RFC 5952. */
export function formatIpv6(bytes: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, i) => bytes[2 * i]! * 256 + bytes[2 * i + 1]!);
  let run = { from: 0, length: 1 };
  for (let from = 0; from < 8; from++) {
    let length = 0;
    while (from + length < 8 && groups[from + length] === 0) length++;
    if (length > run.length) run = { from, length };
  }
  const text = (part: number[]) => part.map((group) => group.toString(16)).join(":");
  if (run.length < 2) return text(groups);
  return `${text(groups.slice(0, run.from))}::${text(groups.slice(run.from + run.length))}`;
}

/** The IPv4 address inside `::ffff:a.b.c.d`; undefined for other IPv6 addresses. */
export function mappedIpv4(bytes: Uint8Array): Uint8Array | undefined {
  const isMapped =
    bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  return isMapped ? bytes.slice(12) : undefined;
}
