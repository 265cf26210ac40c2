/** Published hashes: those that any implementation is checked by. Source: tevador/RandomX, src/tests/tests.cpp. */
import { asciiBytes } from "../bytes.ts";
import type { RandomXVersion } from "./versions.ts";

export type RandomXVector = {
  readonly key: Uint8Array;
  readonly input: Uint8Array;
  /** In hexadecimal, for each version that one was published for. */
  readonly hashes: Readonly<Partial<Record<RandomXVersion, string>>>;
};

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
    hashes: {
      1: "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f",
      2: "22ec6b861b3eb23686b2efbad69513c967ecfce80983df66c9c5b4fbfb4cdb6f",
    },
  },
  {
    key: first,
    input: asciiBytes("Lorem ipsum dolor sit amet"),
    hashes: {
      1: "300a0adb47603dedb42228ccb2b211104f4da45af709cd7547cd049e9489c969",
      2: "9e2c772c12fd48f93c14c97fdc89d556264d9100597023f44d9163e279012ecf",
    },
  },
  {
    key: first,
    input: sentence,
    hashes: {
      1: "c36d4ed4191e617309867ed66a443be4075014e2b061bcdaf9ce7b721d2b77a8",
      2: "4d6b063a1a603751d525f18a171336a4002f2f06df6c17e4b25fe17e17796e42",
    },
  },
  {
    key: second,
    input: sentence,
    hashes: {
      1: "e9ff4503201c0c2cca26d285c93ae883f9b1d30c9eb240b820756f2d5a7905fc",
      2: "97024134686ce27d362ea8d86d8ef16483ac272abdabd46ef13359400777fe5e",
    },
  },
  {
    key: second,
    input: fromHex(
      "0b0b98bea7e805e0010a2126d287a2a0cc833d312cb786385a7c2f9de69d25537f584a9bc9977b00000000666fd8753bf61a8631f12984e3fd44f4014eca629276817b56f32e9b68bd82f416",
    ),
    hashes: {
      1: "c56414121acda1713c2f2a819d8ae38aed7c80c35c2a769298d34f03833cd5f1",
      2: "c8e92c5f7c1946fecf06bc382b92e3111da38ee3e6a5ad90704e1a9d8aaf6e76",
    },
  },
  {
    key: fromHex("7797373ea4633194640bf8d8c3b66724d6aa7bd2dc20e009df2f8f1710abe8"),
    input: fromHex(
      "1010e1eaf8cf067b37b5f0ee031ab23ed1755e090a3af4415830145853e2be3e1f6821fed84dae58d00e00da5214d6c1f2d0622e0abd51f9373d04e0b0f8e6d6514d90689721c4aac5a9bb0d",
    ),
    hashes: { 1: "78af2a1864c42abce36d2e8983e13df99b2af0ce1362999af09fab004d4435a8" },
  },
];
