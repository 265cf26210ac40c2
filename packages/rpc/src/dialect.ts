/**
 * How a service responds where the interface documents and the original programs contradict each other:
 * `contract` follows the documents, `upstream` follows monerod and monero-wallet-rpc 0.18.5.3.
 */
export type Dialect = "contract" | "upstream";
