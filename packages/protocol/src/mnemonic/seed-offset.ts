import { cnSlowHash, scAdd, scSub, wipe } from "@anulo/crypto";

function offsetOf(passphrase: string): Uint8Array {
  const bytes = new TextEncoder().encode(passphrase);
  try {
    return cnSlowHash(bytes);
  } finally {
    wipe(bytes);
  }
}

/**
 * The key (32 bytes) to write down instead of `key`: it can be used only with the passphrase. Source: `encrypt_key`.
 */
export function addSeedOffset(key: Uint8Array, passphrase: string): Uint8Array {
  const offset = offsetOf(passphrase);
  try {
    return scAdd(key, offset);
  } finally {
    wipe(offset);
  }
}

/**
 * The original key (32 bytes) of one written down with a passphrase. Source: cryptonote_format_utils.cpp `decrypt_key`.
 */
export function removeSeedOffset(key: Uint8Array, passphrase: string): Uint8Array {
  const offset = offsetOf(passphrase);
  try {
    return scSub(key, offset);
  } finally {
    wipe(offset);
  }
}
