import { createRequire } from "node:module";

type Reader = (pixels: Uint8ClampedArray, width: number, height: number) => { readonly data: string } | null;
const { default: read } = createRequire(import.meta.url)("jsqr") as { default: Reader };

const PIXELS_PER_MODULE = 4;

/** What the modules of a QR code say (`Mx yh1v1h-1z` each), read as from a picture; undefined if nothing. */
export function readQrCode(path: string | null): string | undefined {
  const modules = [...(path ?? "").matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(
    ([, x, y]) => [Number(x), Number(y)] as const,
  );
  const size = PIXELS_PER_MODULE * (Math.max(...modules.flat()) + 5);
  const pixels = new Uint8ClampedArray(4 * size * size).fill(255);
  for (const [x, y] of modules) {
    for (let at = 0; at < PIXELS_PER_MODULE ** 2; at++) {
      const column = PIXELS_PER_MODULE * x + (at % PIXELS_PER_MODULE);
      const row = PIXELS_PER_MODULE * y + Math.floor(at / PIXELS_PER_MODULE);
      pixels.fill(0, 4 * (row * size + column), 4 * (row * size + column) + 3);
    }
  }
  return read(pixels, size, size)?.data;
}
