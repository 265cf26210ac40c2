import type { Page, Pages } from "../pages.ts";
import type { Answer } from "./answer.ts";

/**
 * No content from elsewhere, no inline content, no frames; `data:` only for images. WebAssembly may be compiled,
 * without eval.
 * Source: Content Security Policy Level 3; Trusted Types.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const PROTECTION = [
  `Content-Security-Policy: ${POLICY}`,
  "X-Content-Type-Options: nosniff",
  "X-Frame-Options: DENY",
  "Referrer-Policy: no-referrer",
  "Cross-Origin-Opener-Policy: same-origin",
  "Cross-Origin-Resource-Policy: same-origin",
  "",
].join("\r\n");

const KEPT = "Cache-Control: private, max-age=31536000, immutable\r\n";
const ASKED_AGAIN = "Cache-Control: no-cache\r\n";

/** The file at a target, whatever its query. */
export function findPage(pages: Pages, target: string): Page | undefined {
  if (pages.size === 0) return undefined;
  const query = target.indexOf("?");
  return pages.get(query === -1 ? target : target.slice(0, query));
}

/** Responds to a request for a file of a page. */
export function answerPage(method: string, { type, body, isLasting }: Page): Answer {
  if (method !== "GET" && method !== "HEAD") {
    return {
      status: 405,
      type: "text/plain",
      body: "This is read by GET\n",
      headers: "Allow: GET, HEAD\r\n",
    };
  }
  return { status: 200, type, body, headers: (isLasting ? KEPT : ASKED_AGAIN) + PROTECTION };
}
