/** Numbers, times and hashes as the console writes them. */

const COIN = 10n ** 12n;
const GROUPS = /\B(?=(\d{3})+(?!\d))/g;
/** Thin enough not to be taken for a separator of lists, and kept together by browsers. */
const NARROW_SPACE = "\u202f";

/** A whole number with its digits in groups of three. */
export function formatCount(value: number | bigint): string {
  const text = typeof value === "bigint" ? String(value) : String(Math.round(value));
  return text.replace(GROUPS, NARROW_SPACE);
}

/** Coins with all decimals that are not zero, two at least, of atomic units. */
export function formatCoins(value: number | bigint): string {
  const units = BigInt(value);
  const size = units < 0n ? -units : units;
  const decimals = (size % COIN).toString().padStart(12, "0").replace(/0+$/, "").padEnd(2, "0");
  return `${units < 0n ? "−" : ""}${formatCount(size / COIN)}.${decimals}`;
}

/** Atomic units of a text in coins, as "1.5"; undefined for one that is no amount of 64 bits. */
export function parseCoins(text: string): bigint | undefined {
  const match = /^(\d{1,8})(?:\.(\d{1,12}))?$/.exec(text);
  if (match === null) return undefined;
  const [, whole = "", decimals = ""] = match;
  const amount = BigInt(whole) * COIN + BigInt(decimals.padEnd(12, "0"));
  return amount < 2n ** 64n ? amount : undefined;
}

const byteUnits = ["B", "kB", "MB", "GB", "TB"];

/** Bytes with three digits that count. */
export function formatBytes(bytes: number): string {
  let at = 0;
  let size = bytes;
  while (size >= 1000 && at < byteUnits.length - 1) {
    size /= 1000;
    at += 1;
  }
  const text = at === 0 ? String(size) : size.toPrecision(3);
  return `${text} ${byteUnits[at]}`;
}

const rateUnits = ["H/s", "kH/s", "MH/s", "GH/s", "TH/s"];

/** Hashes per second, of a difficulty and the seconds between two blocks. */
export function formatHashRate(perSecond: number): string {
  let at = 0;
  let rate = perSecond;
  while (rate >= 1000 && at < rateUnits.length - 1) {
    rate /= 1000;
    at += 1;
  }
  return `${rate >= 100 ? rate.toFixed(0) : rate.toPrecision(3)} ${rateUnits[at]}`;
}

/** A span of seconds by its two greatest units. */
export function formatSpan(seconds: number): string {
  const total = Math.max(0, Math.round(seconds));
  const units: readonly (readonly [string, number])[] = [
    ["d", 86_400],
    ["h", 3600],
    ["min", 60],
    ["s", 1],
  ];
  const first = units.findIndex(([, size]) => total >= size);
  if (first === -1) return "0 s";
  let rest = total;
  const parts: string[] = [];
  for (const [name, size] of units.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    rest %= size;
    if (count > 0) parts.push(`${count} ${name}`);
  }
  return parts.join(" ");
}

/** Unix seconds as date and time of this machine's zone, in the order in which they sort. */
export function formatTime(seconds: number): string {
  if (seconds === 0) return "–";
  const date = new Date(seconds * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Both ends of a hash or an address. */
export function shorten(text: string, edge = 8): string {
  return text.length <= 2 * edge + 1 ? text : `${text.slice(0, edge)}…${text.slice(-edge)}`;
}
