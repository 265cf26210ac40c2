/** Outcomes of the transactions that wallets sent to their nodes, since the service started. */
export class SendingCounts {
  /** The node accepted the transaction. */
  sent = 0;
  /** The node rejected the transaction. */
  refused = 0;
  /** The node did not respond: the transaction is stored and sent again. */
  unanswered = 0;
}
