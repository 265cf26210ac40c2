/** Published hashes: those that any implementation is checked by. Source: tevador/RandomX, src/tests/tests.cpp. */
import { asciiBytes } from "../bytes.ts";

export type RandomXVector = { readonly key: Uint8Array; readonly input: Uint8Array; readonly hash: string };

const fromHex = (text: string): Uint8Array =>
  Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));

const first = asciiBytes("test key 000");
const second = asciiBytes("test key 001");
const sentence = asciiBytes("sed do eiusmod tempor incididunt ut labore et dolore magna aliqua");

/** Ordered by key, of which there are three. The last one meets an edge of ISUB_R. */
export const randomxVectors: readonly RandomXVector[] = [
  {
    key: first,
    input: asciiBytes("This is a test"),
    hash: "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f",
  },
  {
    key: first,
    input: asciiBytes("Lorem ipsum dolor sit amet"),
    hash: "300a0adb47603dedb42228ccb2b211104f4da45af709cd7547cd049e9489c969",
  },
  {
    key: first,
    input: sentence,
    hash: "c36d4ed4191e617309867ed66a443be4075014e2b061bcdaf9ce7b721d2b77a8",
  },
  {
    key: second,
    input: sentence,
    hash: "e9ff4503201c0c2cca26d285c93ae883f9b1d30c9eb240b820756f2d5a7905fc",
  },
  {
    key: second,
    input: fromHex(
      "0b0b98bea7e805e0010a2126d287a2a0cc833d312cb786385a7c2f9de69d25537f584a9bc9977b00000000666fd8753bf61a8631f12984e3fd44f4014eca629276817b56f32e9b68bd82f416",
    ),
    hash: "c56414121acda1713c2f2a819d8ae38aed7c80c35c2a769298d34f03833cd5f1",
  },
  {
    key: fromHex("7797373ea4633194640bf8d8c3b66724d6aa7bd2dc20e009df2f8f1710abe8"),
    input: fromHex(
      "1010e1eaf8cf067b37b5f0ee031ab23ed1755e090a3af4415830145853e2be3e1f6821fed84dae58d00e00da5214d6c1f2d0622e0abd51f9373d04e0b0f8e6d6514d90689721c4aac5a9bb0d",
    ),
    hash: "78af2a1864c42abce36d2e8983e13df99b2af0ce1362999af09fab004d4435a8",
  },
];
