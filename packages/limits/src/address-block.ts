const GROUPS = 8;
const GROUPS_OF_BLOCK = 4;

/**
 * What counts as one address where something is limited per address: an IPv4 address, also inside IPv6, and 64 bits of
 * an IPv6 address, since whoever has one has as many as all of IPv4 squared. Other texts stand for themselves.
 */
export function addressBlock(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!/^[0-9a-f:]+(?:%.*)?$/i.test(address) || !address.includes(":")) return address;
  const [head = "", tail] = address.replace(/%.*/, "").split("::");
  const groupsOf = (text: string) => (text === "" ? [] : text.split(":"));
  const [before, after] = [groupsOf(head), groupsOf(tail ?? "")];
  const zeros = Array.from({ length: Math.max(0, GROUPS - before.length - after.length) }, () => "0");
  const groups = [...before, ...(tail === undefined ? [] : zeros), ...after].slice(0, GROUPS_OF_BLOCK);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
