export type { ChainOutput, ChainView, PoolView } from "./chain-view.ts";
export type {
  BalanceObligation,
  ClsagObligation,
  ClsagProof,
  KeyImageObligation,
  Obligation,
  OutputKeyObligation,
  PowHashObligation,
  RangeProof,
  RangeProofObligation,
  RingMember,
  RingSignatureObligation,
} from "./obligations.ts";
export type { PeerAction, SendTransactionFlag, Verdict, Violation, ViolationCode } from "./violations.ts";
export {
  describeViolation,
  RuleViolation,
  sendTransactionFlags,
  UnsupportedEra,
  verdictOf,
} from "./violations.ts";
