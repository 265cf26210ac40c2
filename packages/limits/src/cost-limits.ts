/**
 * The maximum that one message of a peer or one call of a client may cost, declared beside its schema. A message or
 * call without a declaration is refused; `docs/limits.md` is generated from the declarations.
 */
export interface CostLimits {
  /** Longest request, in bytes; a longer one is refused before it is read. */
  readonly requestBytes: number;
  /** Memory that the parsed request may take, in bytes, as the parser accounts it. */
  readonly memoryBytes: number;
  /** Database rows that may be read to respond. */
  readonly rows: number;
  /** Longest response, in bytes; 0 where there is none. */
  readonly responseBytes: number;
}
