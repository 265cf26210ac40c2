/** Splits `host:port`; an IPv6 address has its brackets removed. */
export function hostAndPortOf(address: string): { readonly host: string; readonly port: number } {
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(address.slice(colon + 1)) };
}
