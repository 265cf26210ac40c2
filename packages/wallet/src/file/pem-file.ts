import { readFileSync } from "node:fs";
import { BadTlsSettings } from "../daemon-tls.ts";

/** Maximum size of a file of certificates: a system's whole list has some 250 kB. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Reads a file with keys or certificates. Throws BadTlsSettings, which does not contain the file's content. */
export function readPem(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "latin1");
  } catch {
    throw new BadTlsSettings(`the file cannot be read: ${file}`);
  }
  if (text.length > MAX_BYTES || !text.includes("-----BEGIN "))
    throw new BadTlsSettings(`not a PEM file: ${file}`);
  return text;
}
