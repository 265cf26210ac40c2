/** What became of transactions that wallets gave to their nodes, since the service started. */
export class SendingCounts {
  /** The node took it. */
  sent = 0;
  /** The node refused it. */
  refused = 0;
  /** No answer came: it is kept and sent again. */
  unanswered = 0;
}
