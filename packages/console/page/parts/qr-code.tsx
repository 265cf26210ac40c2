import { useMemo } from "preact/hooks";
import qrcode from "qrcode-generator";

/** Modules of white around a code. Source: ISO/IEC 18004, section 6.3.8. */
const QUIET = 4;

/** A text as a QR code: dark on white in both colour schemes, since many readers take no other. */
export function QrCode({ text, name }: { readonly text: string; readonly name: string }) {
  const { size, path } = useMemo(() => {
    const code = qrcode(0, "M");
    code.addData(text);
    code.make();
    const count = code.getModuleCount();
    const modules = Array.from({ length: count }, (_row, y) =>
      Array.from({ length: count }, (_column, x) =>
        code.isDark(y, x) ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : "",
      ),
    );
    return { size: count + 2 * QUIET, path: modules.flat().join("") };
  }, [text]);
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={name} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
