export { concatBytes, equalBytes } from "@anulo/crypto";
export { type Address, type AddressKind, BadAddress, formatAddress, parseAddress } from "./address.ts";
export {
  ATOMIC_UNITS_PER_COIN,
  BadAmount,
  COIN_DECIMALS,
  digitsOfAmount,
  formatAmount,
  isDecomposedAmount,
  MAX_AMOUNT,
  parseAmount,
  roundAmountUp,
  sumAmounts,
} from "./amount.ts";
export {
  type Block,
  type BlockHeader,
  type BlockOutline,
  blockHashingBlob,
  blockId,
  claimedHeight,
  type IdentifiedBlock,
  MAX_BLOCK_NUMBER,
  minerTransactionStart,
  outlineBlock,
  readBlock,
  readBlockHeader,
  readBlockTop,
  readIdentifiedBlock,
  transactionTreeHash,
  writeBlock,
} from "./block.ts";
export { BadHex, compareBytes, fromHex, toHex } from "./bytes.ts";
export {
  type BlockPackage,
  CHAIN_FILE_HEADER_BYTES,
  type ChainFileHeader,
  MAX_CHUNK_BYTES,
  readBlockPackage,
  readChainFileHeader,
  readPackagedBlock,
  writeBlockPackage,
  writeChainFileHeader,
} from "./chain-file.ts";
export { decodeBase58, encodeBase58 } from "./codec/base58.ts";
export { BadBytes, Reader, Writer } from "./codec/bytes-io.ts";
export {
  encodedObjects,
  type IntegerType,
  type PortableArray,
  type PortableEntry,
  type PortableObject,
  PortableObjects,
  type PortableScalar,
  type PortableType,
  rememberPortable,
  writePortable,
  writePortableInPieces,
} from "./codec/epee.ts";
export { httpLimits, type PortableLimits, peerLimits } from "./codec/epee-scan.ts";
export { openPortable, PortableNames, PortableValue, readPortable } from "./codec/epee-value.ts";
export * as epee from "./codec/record.ts";
export {
  type Field,
  type FieldValue,
  type JsonValue,
  type RecordField,
  readRecord,
  writeRecord,
} from "./codec/record.ts";
export {
  absent,
  byteString,
  bytes,
  bytes32,
  type Codec,
  constant,
  decode,
  decodeInSteps,
  encode,
  list,
  readList,
  refine,
  type Struct,
  struct,
  type TypeOf,
  times,
  u8,
  u32,
  union,
  varint,
  varint64,
  varintBelow,
} from "./codec/wire.ts";
export {
  additionalPublicKeys,
  type ExtraField,
  encryptedPaymentId,
  extraNonce,
  longPaymentId,
  MAX_NONCE_BYTES,
  parseExtra,
  paymentIdNonce,
  splitExtra,
  txPublicKey,
  txPublicKeys,
  writeExtra,
} from "./extra.ts";
export {
  BLOCK_REWARD_OVERESTIMATE,
  dynamicBaseFee,
  dynamicFees2021,
  FEE_QUANTIZATION_MASK,
  type Fee2021Parameters,
  type FeeParameters,
  feeOfWeight,
  isFeeEnough,
  isFeePerByte,
  neededFee,
} from "./fee.ts";
export {
  type AmountRule,
  allForkRules,
  type ClaimRule,
  type FeeRule,
  type ForkRules,
  firstFork,
  forkRules,
  type OutputTypes,
  type PenaltyRule,
  type PowVariant,
  type UnlockRule,
  type WeightRule,
} from "./fork-rules.ts";
export { genesisBlock } from "./genesis.ts";
export { hardForkAt, heightOfHardFork } from "./hard-forks.ts";
export {
  type IdentifiedTransaction,
  type ReadTransactionOptions,
  readIdentifiedTransaction,
} from "./identified-transaction.ts";
export { describeBlock, describeTransaction } from "./json-description.ts";
export { findLanguage, type Language, languages, oldEnglish } from "./mnemonic/languages.ts";
export {
  BadMnemonic,
  type DecodedMnemonic,
  decodeMnemonic,
  encodeMnemonic,
  isOldStyleMnemonic,
} from "./mnemonic/mnemonic.ts";
export { addSeedOffset, removeSeedOffset } from "./mnemonic/seed-offset.ts";
export { type HardFork, type Network, type NetworkName, networks } from "./networks.ts";
export {
  isPruningSeed,
  keepsWholeBlock,
  logStripesOfSeed,
  nextPrunedBlock,
  nextWholeBlock,
  PRUNING_LOG_STRIPES,
  PRUNING_STRIPE_BLOCKS,
  PRUNING_TIP_BLOCKS,
  pruningSeed,
  stripeOfBlock,
  stripeOfSeed,
} from "./pruning.ts";
export {
  type ReserveProofBody,
  type ReserveProofEntry,
  type ReserveProofSpendKey,
  reserveProofCodec,
  reserveProofEntry,
  reserveProofSpendKey,
} from "./reserve-proof.ts";
export { baseReward, blockReward, minimumFullRewardWeight, type RewardParameters } from "./reward.ts";
export {
  type Bulletproof,
  type BulletproofPlus,
  type Clsag,
  type ConfidentialRingCt,
  type ConfidentialType,
  type EcdhInfo,
  type Mlsag,
  maxAmountsOfProofs,
  type RangeSignature,
  type RingCt,
  type RingCtPrunable,
  ringCtTypes,
} from "./ringct.ts";
export {
  absoluteOffsets,
  isMinerTransaction,
  type KeyInput,
  keyImagesOf,
  keyInputs,
  outputKey,
  prunedTransaction,
  readTransaction,
  readTransactionPrefix,
  relativeOffsets,
  type Transaction,
  type TransactionPrefix,
  type TxInput,
  type TxOutput,
  type TxTarget,
  transaction,
  transactionPrefix,
  writePrunedTransaction,
  writeTransaction,
} from "./transaction.ts";
export {
  NULL_HASH,
  prunableHash,
  ringCtMessage,
  transactionHash,
  transactionPrefixHash,
  writePrunablePart,
} from "./transaction-hash.ts";
export { NO_KEY, NO_VIEW_TAG, TransactionOffsets } from "./transaction-offsets.ts";
export { treeHash } from "./tree-hash.ts";
export {
  estimateTransactionSize,
  estimateTransactionWeight,
  MAX_PROOF_OUTPUTS,
  prunedTransactionWeight,
  type TransactionShape,
  transactionBlobSize,
  transactionWeight,
} from "./weight.ts";
