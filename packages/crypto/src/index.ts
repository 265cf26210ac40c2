export { chacha8, chacha20 } from "./chacha.ts";
export { cnSlowHash } from "./hash/cryptonight.ts";
export { keccak256 } from "./hash/keccak.ts";
