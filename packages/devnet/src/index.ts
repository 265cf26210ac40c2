export { CallFailed, call, post } from "./call.ts";
export { type Devnet, type DevnetOptions, type DevnetWallet, startDevnet } from "./devnet.ts";
export type { Exact, ExactObject } from "./exact-json.ts";
export { formatExact, isExactObject, parseExact, WrittenAsFraction } from "./exact-json.ts";
