// Written by scripts/make-client.mjs from the declarations of @anulo/rpc.

import type { CallRow } from "../call-table.ts";

export type Intent = { idempotency_key: string; method: string; state: string; timestamp: number; transactions: { tx_hash: string; state: string; height: number }[]; error?: { code: bigint; message: string } };

export type Payment = { address: string; amount: bigint; block_height: number; locked: boolean; payment_id: string; subaddr_index: { major: number; minor: number }; tx_hash: string; unlock_time: bigint };

export type PerSubaddress = { account_index: number; address: string; address_index: number; balance: bigint; blocks_to_unlock: number; label: string; num_unspent_outputs: number; time_to_unlock: bigint; unlocked_balance: bigint };

export type Summary = { amount_in: bigint; amount_out: bigint; change_address: string; change_amount: bigint; fee: bigint; recipients: { address: string; amount: bigint }[] };

export type Token = { token_id: string; name: string; scopes: string[]; wallets: string[]; created: number; expires: number; revoked: number; last_used: number; cap_hour?: bigint; cap_day?: bigint; spent_hour: bigint; spent_day: bigint };

export type Transfer = { amount: bigint; block_height: number; frozen: boolean; global_index: number; key_image: string; pubkey: string; spent: boolean; subaddr_index: { major: number; minor: number }; tx_hash: string; tx_size: number; unlocked: boolean };

export type TransferDescription = { amount_in: bigint; amount_out: bigint; change_address: string; change_amount: bigint; fee: bigint; recipients: { address: string; amount: bigint }[]; dummy_outputs: number; extra: string; payment_id: string; ring_size: number; sources: { amount: bigint; global_index: bigint; rct: boolean; pubkey: string }[]; unlock_time: bigint; weight?: number };

export type TransferEntry = { address: string; amount: bigint; amounts: bigint[]; confirmations: number; double_spend_seen: boolean; fee: bigint; height: number; locked: boolean; note: string; payment_id: string; subaddr_index: { major: number; minor: number }; subaddr_indices: { major: number; minor: number }[]; suggested_confirmations_threshold: bigint; timestamp: number; txid: string; type: string; unlock_time: bigint; destinations?: { amount: bigint; address: string }[] };

export type Webhook = { webhook_id: string; url: string; wallets: string[]; events: string[]; disabled: string; sequence: number; attempts: number; next_attempt: number; missed: number };

/** Params and result of each call. */
export interface WalletCalls {
  /** Balance of an account and of its addresses, in atomic units. */
  getBalance: { params: { account_index?: number | undefined; address_indices?: readonly number[] | undefined; all_accounts?: boolean | undefined; strict?: boolean | undefined }; result: { balance: bigint; blocks_to_unlock: number; multisig_import_needed: boolean; per_subaddress: PerSubaddress[]; time_to_unlock: bigint; unlocked_balance: bigint } };
  /** Addresses of an account. */
  getAddress: { params: { account_index?: number | undefined; address_index?: readonly number[] | undefined }; result: { address: string; addresses: { address: string; label: string; address_index: number; used: boolean }[] } };
  /** Account and index of an address of this wallet. */
  getAddressIndex: { params: { address: string }; result: { index: { major: number; minor: number } } };
  /** Makes new addresses in an account. */
  createAddress: { params: { account_index?: number | undefined; label?: string | undefined; count?: number | undefined }; result: { address: string; address_index: number; address_indices: number[]; addresses: string[] } };
  /** Names an address. */
  labelAddress: { params: { index: { major?: number | undefined; minor?: number | undefined }; label: string }; result: Record<never, never> };
  /** Whether a text is an address, and of which kind and network. */
  validateAddress: { params: { address: string; any_net_type?: boolean | undefined; allow_openalias?: boolean | undefined }; result: { integrated: boolean; nettype: string; openalias_address: boolean | string; subaddress: boolean; valid: boolean } };
  /** Accounts with their balances, in atomic units. */
  getAccounts: { params: { tag?: string | undefined; strict_balances?: boolean | undefined; regexp?: boolean | undefined }; result: { subaddress_accounts: { account_index: number; balance: bigint; base_address: string; label: string; tag: string; unlocked_balance: bigint }[]; total_balance: bigint; total_unlocked_balance: bigint } };
  /** Makes a new account. */
  createAccount: { params: { label?: string | undefined }; result: { account_index: number; address: string } };
  /** Names an account. */
  labelAccount: { params: { account_index?: number | undefined; label: string }; result: Record<never, never> };
  /** Tags and the accounts that carry them. */
  getAccountTags: { params: Record<never, never>; result: { account_tags: { tag: string; label: string; accounts: number[] }[] } };
  /** Puts a tag on accounts. */
  tagAccounts: { params: { tag: string; accounts: readonly number[] }; result: Record<never, never> };
  /** Takes the tags off accounts. */
  untagAccounts: { params: { accounts: readonly number[] }; result: Record<never, never> };
  /** Describes a tag. */
  setAccountTagDescription: { params: { tag: string; description: string }; result: Record<never, never> };
  /** Number of blocks the wallet has scanned; during a long scan also how it goes on. */
  getHeight: { params: Record<never, never>; result: { height: number; scan_blocks_per_second?: number; scan_seconds_left?: number; scan_target_height?: number } };
  /** Sends to destinations in one transaction. */
  transfer: { params: { destinations: readonly { amount?: bigint | undefined; address?: string | undefined }[]; account_index?: number | undefined; subaddr_indices?: readonly number[] | undefined; priority?: number | undefined; mixin?: number | undefined; ring_size?: number | undefined; unlock_time?: bigint | undefined; payment_id?: string | undefined; subtract_fee_from_outputs?: readonly number[] | undefined; get_tx_key?: boolean | undefined; idempotency_key?: string | undefined; do_not_relay?: boolean | undefined; get_tx_hex?: boolean | undefined; get_tx_metadata?: boolean | undefined }; result: { amount: bigint; amounts_by_dest?: { amounts: bigint[] }; fee: bigint; multisig_txset: string; spent_key_images: { key_images: string[] }; tx_blob: string; tx_hash: string; tx_key: string; tx_metadata: string; unsigned_txset: string; weight: number } };
  /** Sends to destinations, in several transactions if one is too small. */
  transferSplit: { params: { destinations: readonly { amount?: bigint | undefined; address?: string | undefined }[]; account_index?: number | undefined; subaddr_indices?: readonly number[] | undefined; priority?: number | undefined; mixin?: number | undefined; ring_size?: number | undefined; unlock_time?: bigint | undefined; payment_id?: string | undefined; get_tx_keys?: boolean | undefined; new_algorithm?: boolean | undefined; idempotency_key?: string | undefined; do_not_relay?: boolean | undefined; get_tx_hex?: boolean | undefined; get_tx_metadata?: boolean | undefined }; result: { amount_list: bigint[]; fee_list: bigint[]; tx_blob_list: string[]; tx_hash_list: string[]; tx_key_list: string[]; tx_metadata_list: string[]; multisig_txset: string; unsigned_txset: string; amounts_by_dest_list: { amounts: bigint[] }[]; spent_key_images_list: { key_images: string[] }[]; weight_list: number[] } };
  /** Spends the outputs that rings cannot hide. */
  sweepDust: { params: { get_tx_keys?: boolean | undefined; idempotency_key?: string | undefined; do_not_relay?: boolean | undefined; get_tx_hex?: boolean | undefined; get_tx_metadata?: boolean | undefined }; result: { amount_list?: bigint[]; fee_list?: bigint[]; tx_blob_list?: string[]; tx_hash_list?: string[]; tx_key_list?: string[]; tx_metadata_list?: string[]; multisig_txset: string; unsigned_txset: string; amounts_by_dest_list: { amounts: bigint[] }[]; spent_key_images_list: { key_images: string[] }[]; weight_list: number[] } };
  /** Sends everything an account can spend to one address. */
  sweepAll: { params: { address?: string | undefined; account_index?: number | undefined; subaddr_indices?: readonly number[] | undefined; priority?: number | undefined; mixin?: number | undefined; ring_size?: number | undefined; unlock_time?: bigint | undefined; payment_id?: string | undefined; outputs?: number | undefined; below_amount?: bigint | undefined; get_tx_keys?: boolean | undefined; idempotency_key?: string | undefined; do_not_relay?: boolean | undefined; get_tx_hex?: boolean | undefined; get_tx_metadata?: boolean | undefined; subaddr_indices_all?: boolean | undefined }; result: { amount_list: bigint[]; fee_list: bigint[]; tx_blob_list: string[]; tx_hash_list: string[]; tx_key_list: string[]; tx_metadata_list: string[]; multisig_txset: string; unsigned_txset: string; amounts_by_dest_list: { amounts: bigint[] }[]; spent_key_images_list: { key_images: string[] }[]; weight_list: number[] } };
  /** Sends one output, named by its key image, to one address. */
  sweepSingle: { params: { address?: string | undefined; account_index?: number | undefined; subaddr_indices?: readonly number[] | undefined; priority?: number | undefined; mixin?: number | undefined; ring_size?: number | undefined; unlock_time?: bigint | undefined; payment_id?: string | undefined; outputs?: number | undefined; below_amount?: bigint | undefined; get_tx_keys?: boolean | undefined; idempotency_key?: string | undefined; do_not_relay?: boolean | undefined; get_tx_hex?: boolean | undefined; get_tx_metadata?: boolean | undefined; key_image?: string | undefined; get_tx_key?: boolean | undefined }; result: { amount: bigint; amounts_by_dest?: { amounts: bigint[] }; fee: bigint; multisig_txset: string; spent_key_images: { key_images: string[] }; tx_blob: string; tx_hash: string; tx_key: string; tx_metadata: string; unsigned_txset: string; weight: number; amount_list: bigint[]; fee_list: bigint[]; tx_blob_list: string[]; tx_hash_list: string[]; tx_key_list: string[]; tx_metadata_list: string[] } };
  /** Sends a transaction that was built with do_not_relay, from its metadata. */
  relayTx: { params: { hex: string; idempotency_key?: string | undefined }; result: { tx_hash: string } };
  /** Saves the wallet. */
  store: { params: Record<never, never>; result: Record<never, never> };
  /** The priority of a transfer that names none. */
  getDefaultFeePriority: { params: Record<never, never>; result: { priority: number } };
  /** Size in bytes and weight of a transaction not yet built. */
  estimateTxSizeAndWeight: { params: { n_inputs?: number | undefined; n_outputs?: number | undefined; ring_size?: number | undefined; rct?: boolean | undefined }; result: { size: number; weight: number } };
  /** What became of the payment with an idempotency key. */
  getIntent: { params: { idempotency_key: string }; result: { idempotency_key: string; method: string; state: string; timestamp: number; transactions: { tx_hash: string; state: string; height: number }[]; error?: { code: bigint; message: string } } };
  /** Payments in the order they were made, after the one with the key `after`; up to `limit` of them (100, at most 1000). */
  listIntents: { params: { after?: string | undefined; limit?: number | undefined }; result: { intents: Intent[] } };
  /** Signs a set of transactions a view-only wallet built. */
  signTransfer: { params: { unsigned_txset: string; export_raw?: boolean | undefined; get_tx_keys?: boolean | undefined }; result: { signed_txset: string; tx_hash_list: string[]; tx_key_list: string[]; tx_raw_list: string[] } };
  /** Sends a signed set of transactions. */
  submitTransfer: { params: { tx_data_hex: string; idempotency_key?: string | undefined }; result: { tx_hash_list: string[] } };
  /** What an unsigned or multisig set of transactions would do. */
  describeTransfer: { params: { unsigned_txset?: string | undefined; multisig_txset?: string | undefined }; result: { desc: TransferDescription[]; summary: Summary } };
  /** Outputs for the wallet that holds the spend key: those it was not given yet, or a part of all. */
  exportOutputs: { params: { all?: boolean | undefined; start?: number | undefined; count?: number | undefined }; result: { outputs_data_hex: string } };
  /** Takes the outputs a view-only wallet exported. */
  importOutputs: { params: { outputs_data_hex: string }; result: { num_imported: number } };
  /** Signed key images for a view-only wallet. */
  exportKeyImages: { params: { all?: boolean | undefined }; result: { offset: number; signed_key_images: { key_image: string; signature: string }[] } };
  /** Takes signed key images; answers what is spent and unspent, in atomic units. */
  importKeyImages: { params: { offset?: number | undefined; signed_key_images: readonly { key_image: string; signature: string }[] }; result: { height: number; spent: bigint; unspent: bigint } };
  /** Payments with one payment id. */
  getPayments: { params: { payment_id: string }; result: { payments: Payment[] } };
  /** Payments with any of some payment ids, above a height. */
  getBulkPayments: { params: { payment_ids?: readonly string[] | undefined; min_block_height?: number | undefined }; result: { payments: Payment[] } };
  /** Outputs the wallet received: all, available or unavailable. */
  incomingTransfers: { params: { transfer_type: string; account_index?: number | undefined; subaddr_indices?: readonly number[] | undefined }; result: { transfers: Transfer[] } };
  /** Transfers of the kinds asked for. */
  getTransfers: { params: { in?: boolean | undefined; out?: boolean | undefined; pending?: boolean | undefined; failed?: boolean | undefined; pool?: boolean | undefined; filter_by_height?: boolean | undefined; min_height?: number | undefined; max_height?: number | undefined; account_index?: number | undefined; subaddr_indices?: readonly number[] | undefined; all_accounts?: boolean | undefined }; result: { in?: TransferEntry[]; out?: TransferEntry[]; pending?: TransferEntry[]; failed?: TransferEntry[]; pool?: TransferEntry[] } };
  /** Transfers of one transaction. */
  getTransferByTxid: { params: { txid: string; account_index?: number | undefined }; result: { transfer: TransferEntry; transfers: TransferEntry[] } };
  /** Attaches notes to transactions. */
  setTxNotes: { params: { txids: readonly string[]; notes: readonly string[] }; result: Record<never, never> };
  /** Notes of transactions, in the order asked for. */
  getTxNotes: { params: { txids: readonly string[] }; result: { notes: string[] } };
  /** Keeps an output, named by its key image, from being spent. */
  freeze: { params: { key_image?: string | undefined }; result: Record<never, never> };
  /** Lets a frozen output be spent again. */
  thaw: { params: { key_image?: string | undefined }; result: Record<never, never> };
  /** Whether an output is frozen. */
  frozen: { params: { key_image?: string | undefined }; result: { frozen: boolean } };
  /** A secret of the wallet: mnemonic, view_key or spend_key. */
  queryKey: { params: { key_type: string }; result: { key: string } };
  /** Joins an address and a payment id. */
  makeIntegratedAddress: { params: { standard_address?: string | undefined; payment_id?: string | undefined }; result: { integrated_address: string; payment_id: string } };
  /** Takes an integrated address apart. */
  splitIntegratedAddress: { params: { integrated_address: string }; result: { is_subaddress: boolean; payment: string; payment_id: string; standard_address: string } };
  /** Stores a text under a name in the wallet. */
  setAttribute: { params: { key: string; value: string }; result: Record<never, never> };
  /** A text stored with set_attribute. */
  getAttribute: { params: { key: string }; result: { value: string } };
  /** Secret key of a transaction this wallet sent. */
  getTxKey: { params: { txid: string }; result: { tx_key: string } };
  /** What an address received in a transaction, shown by the transaction's key. */
  checkTxKey: { params: { txid: string; tx_key: string; address: string }; result: { confirmations: number; in_pool: boolean; received: bigint } };
  /** Writes a payment request as a URI. */
  makeUri: { params: { address?: string | undefined; payment_id?: string | undefined; amount?: bigint | undefined; tx_description?: string | undefined; recipient_name?: string | undefined }; result: { uri: string } };
  /** Reads a payment request from a URI. */
  parseUri: { params: { uri: string }; result: { uri: { address: string; amount: bigint; payment_id: string; recipient_name: string; tx_description: string }; unknown_parameters: string[] } };
  /** Proves that a transaction paid an address. */
  getTxProof: { params: { txid: string; address: string; message?: string | undefined }; result: { signature: string } };
  /** Checks a proof of payment. */
  checkTxProof: { params: { txid: string; address: string; message?: string | undefined; signature: string }; result: { confirmations: number; good: boolean; in_pool: boolean; received: bigint } };
  /** Proves that this wallet made a transaction. */
  getSpendProof: { params: { txid: string; message?: string | undefined }; result: { signature: string } };
  /** Checks a proof of having made a transaction. */
  checkSpendProof: { params: { txid: string; message?: string | undefined; signature: string }; result: { good: boolean } };
  /** Proves that the wallet holds an amount, or all it has. */
  getReserveProof: { params: { all?: boolean | undefined; account_index?: number | undefined; amount?: bigint | undefined; message?: string | undefined }; result: { signature: string } };
  /** Checks a proof of funds; amounts in atomic units. */
  checkReserveProof: { params: { address: string; message?: string | undefined; signature: string }; result: { good: boolean; spent: bigint; total: bigint } };
  /** Signs a text with the keys of an address. */
  sign: { params: { data: string; account_index?: number | undefined; address_index?: number | undefined; signature_type?: string | undefined }; result: { signature: string } };
  /** Checks a signed text. */
  verify: { params: { data: string; address: string; signature: string }; result: { good: boolean; old: boolean; signature_type: string; version: number } };
  /** Whether several signers share the wallet, and how many must sign. */
  isMultisig: { params: Record<never, never>; result: { multisig: boolean; ready: boolean; threshold: number; total: number } };
  /** The first string to give to the other signers. */
  prepareMultisig: { params: { enable_multisig_experimental?: boolean | undefined }; result: { multisig_info: string } };
  /** Makes the wallet multisig with the other signers' strings. */
  makeMultisig: { params: { multisig_info: readonly string[]; threshold: number; password?: string | undefined }; result: { address: string; multisig_info: string } };
  /** Ends the key exchange of an N-1 of N wallet. */
  finalizeMultisig: { params: { multisig_info?: readonly string[] | undefined; password?: string | undefined }; result: { address: string } };
  /** One round of the key exchange. */
  exchangeMultisigKeys: { params: { multisig_info: readonly string[]; password?: string | undefined; force_update_use_with_caution?: boolean | undefined }; result: { address: string; multisig_info: string } };
  /** What the other signers need before a transfer. */
  exportMultisigInfo: { params: Record<never, never>; result: { info: string } };
  /** Takes what the other signers exported. */
  importMultisigInfo: { params: { info: readonly string[]; refresh_after_import?: boolean | undefined }; result: { n_outputs: number } };
  /** Adds this signer's part to a set of transactions. */
  signMultisig: { params: { tx_data_hex: string }; result: { tx_data_hex: string; tx_hash_list: string[] } };
  /** Sends a set of transactions that enough signers have signed. */
  submitMultisig: { params: { tx_data_hex: string; idempotency_key?: string | undefined }; result: { tx_hash_list: string[] } };
  /** Entries of the address book, by index; all of them when none is named. */
  getAddressBook: { params: { entries?: readonly number[] | undefined }; result: { entries: { address: string; description: string; index: number; payment_id: string }[] } };
  /** Adds an entry. */
  addAddressBook: { params: { address: string; payment_id?: string | undefined; description?: string | undefined }; result: { index: number } };
  /** Changes the parts of an entry whose flag is set. */
  editAddressBook: { params: { index: number; set_address?: boolean | undefined; address?: string | undefined; set_description?: boolean | undefined; description?: string | undefined; set_payment_id?: boolean | undefined; payment_id?: string | undefined }; result: Record<never, never> };
  /** Removes an entry. */
  deleteAddressBook: { params: { index: number }; result: Record<never, never> };
  /** Languages a seed can be written in. */
  getLanguages: { params: Record<never, never>; result: { languages: string[]; languages_local: string[] } };
  /** Creates a wallet with new keys and opens it. */
  createWallet: { params: { filename: string; password?: string | undefined; language: string }; result: Record<never, never> };
  /** Opens a wallet of the wallet directory. */
  openWallet: { params: { filename: string; password?: string | undefined; autosave_current?: boolean | undefined }; result: Record<never, never> };
  /** Saves and closes the wallet. */
  closeWallet: { params: { autosave_current?: boolean | undefined }; result: Record<never, never> };
  /** Names of the wallets in the wallet directory, in order, and which are open (not in the original). */
  listWallets: { params: { after?: string | undefined; limit?: number | undefined }; result: { wallets: { name: string; open: boolean }[]; more: boolean } };
  /** Changes the password of the wallet file. */
  changeWalletPassword: { params: { old_password?: string | undefined; new_password?: string | undefined }; result: Record<never, never> };
  /** Sets how many accounts and addresses beyond those in use are recognised, in the keys file too. */
  setSubaddressLookahead: { params: { password?: string | undefined; major_idx?: number | undefined; minor_idx?: number | undefined }; result: Record<never, never> };
  /** Creates a wallet from its keys; without the spend key it can only view. */
  generateFromKeys: { params: { restore_height?: number | undefined; filename?: string | undefined; address?: string | undefined; spendkey?: string | undefined; viewkey?: string | undefined; password?: string | undefined; autosave_current?: boolean | undefined; language?: string | undefined }; result: { address: string; info: string } };
  /** Creates a wallet from its seed. */
  restoreDeterministicWallet: { params: { restore_height?: number | undefined; filename?: string | undefined; seed?: string | undefined; seed_offset?: string | undefined; password?: string | undefined; language?: string | undefined; enable_multisig_experimental?: boolean | undefined; autosave_current?: boolean | undefined }; result: { address: string; info: string; seed: string; was_deprecated: boolean } };
  /** Chooses how the wallet scans without its spend key: off, reuse-wallet-password or custom-background-password. */
  setupBackgroundSync: { params: { background_sync_type?: string | undefined; wallet_password?: string | undefined; background_cache_password?: string | undefined }; result: Record<never, never> };
  /** Forgets the spend key and scans without it. */
  startBackgroundSync: { params: Record<never, never>; result: Record<never, never> };
  /** Takes the spend key back, from the wallet's file or its seed, and settles what was found without it. */
  stopBackgroundSync: { params: { wallet_password?: string | undefined; seed?: string | undefined; seed_offset?: string | undefined }; result: Record<never, never> };
  /** Has events sent to an address; the secret that signs them is never shown again. */
  addWebhook: { params: { url: string; wallets?: readonly string[] | undefined; events?: readonly string[] | undefined; secret?: string | undefined; after?: number | undefined }; result: { webhook_id: string; secret: string } };
  /** Webhooks, and how far each has come. */
  listWebhooks: { params: Record<never, never>; result: { webhooks: Webhook[] } };
  /** Removes a webhook and its dead letters. */
  removeWebhook: { params: { webhook_id: string }; result: Record<never, never> };
  /** Goes on with a webhook that its receiver has ended. */
  enableWebhook: { params: { webhook_id: string }; result: Record<never, never> };
  /** Events that a webhook's receiver never took, up to 100 after the number `after`. */
  listDeadLetters: { params: { webhook_id: string; after?: number | undefined }; result: { dead_letters: { sequence: number; timestamp: number; attempts: number; reason: string }[]; more: boolean } };
  /** Sends the 100 oldest of them once more; what arrives is removed. */
  replayDeadLetters: { params: { webhook_id: string }; result: { delivered: number; failed: number } };
  /** Makes a token that allows what its scopes say; it is never shown again. */
  createToken: { params: { name: string; scopes: readonly string[]; wallets: readonly string[]; valid_for?: number | undefined; cap_hour?: bigint | undefined; cap_day?: bigint | undefined }; result: { token_id: string; token: string } };
  /** Tokens, without their secrets, also those that ended in the last 30 days. */
  listTokens: { params: Record<never, never>; result: { tokens: Token[] } };
  /** Ends a token for good, and the streams that are open by it. */
  revokeToken: { params: { token_id: string }; result: Record<never, never> };
  /** Chooses the node the wallet talks to. */
  setDaemon: { params: { address?: string | undefined; username?: string | undefined; password?: string | undefined; trusted?: boolean | undefined; ssl_support?: string | undefined; ssl_private_key_path?: string | undefined; ssl_certificate_path?: string | undefined; ssl_ca_file?: string | undefined; ssl_allowed_fingerprints?: readonly string[] | undefined; ssl_allow_any_cert?: boolean | undefined; proxy?: string | undefined }; result: Record<never, never> };
  /** Scans the new blocks. */
  refresh: { params: { start_height?: number | undefined }; result: { blocks_fetched: number; received_money: boolean } };
  /** Turns scanning on its own on or off; period in seconds. */
  autoRefresh: { params: { enable?: boolean | undefined; period?: number | undefined }; result: Record<never, never> };
  /** Scans single transactions. */
  scanTx: { params: { txids?: readonly string[] | undefined }; result: Record<never, never> };
  /** Asks the node again which outputs are spent. */
  rescanSpent: { params: Record<never, never>; result: Record<never, never> };
  /** Scans again from the start; what the chain does not hold is lost. */
  rescanBlockchain: { params: { hard?: boolean | undefined }; result: Record<never, never> };
  /** Lets the node mine to this wallet. */
  startMining: { params: { threads_count?: number | undefined; do_background_mining?: boolean | undefined; ignore_battery?: boolean | undefined }; result: Record<never, never> };
  /** Stops mining in the node. */
  stopMining: { params: Record<never, never>; result: Record<never, never> };
  /** Saves the wallet and stops the service. */
  stopWallet: { params: Record<never, never>; result: Record<never, never> };
  /** Sets how much is logged, 0 to 4. */
  setLogLevel: { params: { level?: number | undefined }; result: Record<never, never> };
  /** Sets what is logged, as category:level pairs. */
  setLogCategories: { params: { categories?: string | undefined }; result: { categories: string } };
  /** Version of this interface: major times 65536 plus minor. */
  getVersion: { params: Record<never, never>; result: { release: boolean; version: number } };
}

export const walletCalls: Readonly<Record<keyof WalletCalls, CallRow>> = {
  getBalance: ["get_balance","r","{balance:n,blocks_to_unlock:i,multisig_import_needed:b,per_subaddress~:[{account_index:i,address:s,address_index:i,balance:n,blocks_to_unlock:i,label:s,num_unspent_outputs:i,time_to_unlock:n,unlocked_balance:n}],time_to_unlock:n,unlocked_balance:n}"],
  getAddress: ["get_address","r","{address:s,addresses~:[{address:s,label:s,address_index:i,used:b}]}"],
  getAddressIndex: ["get_address_index","r","{index:{major~:i,minor~:i}}"],
  createAddress: ["create_address","","{address:s,address_index:i,address_indices~:[i],addresses~:[s]}"],
  labelAddress: ["label_address","","{}"],
  validateAddress: ["validate_address","r","{integrated:b,nettype:s,openalias_address:(b|s),subaddress:b,valid:b}"],
  getAccounts: ["get_accounts","r","{subaddress_accounts~:[{account_index:i,balance:n,base_address:s,label:s,tag:s,unlocked_balance:n}],total_balance:n,total_unlocked_balance:n}"],
  createAccount: ["create_account","","{account_index:i,address:s}"],
  labelAccount: ["label_account","","{}"],
  getAccountTags: ["get_account_tags","r","{account_tags~:[{tag:s,label:s,accounts~:[i]}]}"],
  tagAccounts: ["tag_accounts","","{}"],
  untagAccounts: ["untag_accounts","","{}"],
  setAccountTagDescription: ["set_account_tag_description","","{}"],
  getHeight: ["get_height","r","{height:i,scan_blocks_per_second?:i,scan_seconds_left?:i,scan_target_height?:i}"],
  transfer: ["transfer","k","{amount:n,amounts_by_dest?:{amounts~:[n]},fee:n,multisig_txset~:s,spent_key_images:{key_images~:[s]},tx_blob~:s,tx_hash~:s,tx_key~:s,tx_metadata~:s,unsigned_txset~:s,weight:i}"],
  transferSplit: ["transfer_split","k","{amount_list~:[n],fee_list~:[n],tx_blob_list~:[s],tx_hash_list~:[s],tx_key_list~:[s],tx_metadata_list~:[s],multisig_txset~:s,unsigned_txset~:s,amounts_by_dest_list~:[{amounts~:[n]}],spent_key_images_list~:[{key_images~:[s]}],weight_list~:[i]}"],
  sweepDust: ["sweep_dust","k","{amount_list?:[n],fee_list?:[n],tx_blob_list?:[s],tx_hash_list?:[s],tx_key_list?:[s],tx_metadata_list?:[s],multisig_txset~:s,unsigned_txset~:s,amounts_by_dest_list~:[{amounts~:[n]}],spent_key_images_list~:[{key_images~:[s]}],weight_list~:[i]}"],
  sweepAll: ["sweep_all","k","{amount_list~:[n],fee_list~:[n],tx_blob_list~:[s],tx_hash_list~:[s],tx_key_list~:[s],tx_metadata_list~:[s],multisig_txset~:s,unsigned_txset~:s,amounts_by_dest_list~:[{amounts~:[n]}],spent_key_images_list~:[{key_images~:[s]}],weight_list~:[i]}"],
  sweepSingle: ["sweep_single","k","{amount:n,amounts_by_dest?:{amounts~:[n]},fee:n,multisig_txset~:s,spent_key_images:{key_images~:[s]},tx_blob~:s,tx_hash~:s,tx_key~:s,tx_metadata~:s,unsigned_txset~:s,weight:i,amount_list~:[n],fee_list~:[n],tx_blob_list~:[s],tx_hash_list~:[s],tx_key_list~:[s],tx_metadata_list~:[s]}"],
  relayTx: ["relay_tx","k","{tx_hash:s}"],
  store: ["store","","{}"],
  getDefaultFeePriority: ["get_default_fee_priority","r","{priority:i}"],
  estimateTxSizeAndWeight: ["estimate_tx_size_and_weight","r","{size:i,weight:i}"],
  getIntent: ["get_intent","r","{idempotency_key:s,method:s,state:s,timestamp:i,transactions~:[{tx_hash:s,state:s,height:i}],error?:{code:n,message:s}}"],
  listIntents: ["list_intents","r","{intents~:[{idempotency_key:s,method:s,state:s,timestamp:i,transactions~:[{tx_hash:s,state:s,height:i}],error?:{code:n,message:s}}]}"],
  signTransfer: ["sign_transfer","","{signed_txset:s,tx_hash_list~:[s],tx_key_list~:[s],tx_raw_list~:[s]}"],
  submitTransfer: ["submit_transfer","k","{tx_hash_list~:[s]}"],
  describeTransfer: ["describe_transfer","r","{desc~:[{amount_in:n,amount_out:n,change_address:s,change_amount:n,fee:n,recipients~:[{address:s,amount:n}],dummy_outputs:i,extra:s,payment_id:s,ring_size:i,sources~:[{amount:n,global_index:n,rct:b,pubkey:s}],unlock_time:n,weight?:i}],summary:{amount_in:n,amount_out:n,change_address:s,change_amount:n,fee:n,recipients~:[{address:s,amount:n}]}}"],
  exportOutputs: ["export_outputs","r","{outputs_data_hex:s}"],
  importOutputs: ["import_outputs","","{num_imported:i}"],
  exportKeyImages: ["export_key_images","r","{offset:i,signed_key_images~:[{key_image:s,signature:s}]}"],
  importKeyImages: ["import_key_images","","{height:i,spent:n,unspent:n}"],
  getPayments: ["get_payments","r","{payments~:[{address:s,amount:n,block_height:i,locked:b,payment_id:s,subaddr_index:{major~:i,minor~:i},tx_hash:s,unlock_time:n}]}"],
  getBulkPayments: ["get_bulk_payments","r","{payments~:[{address:s,amount:n,block_height:i,locked:b,payment_id:s,subaddr_index:{major~:i,minor~:i},tx_hash:s,unlock_time:n}]}"],
  incomingTransfers: ["incoming_transfers","r","{transfers~:[{amount:n,block_height:i,frozen:b,global_index:i,key_image:s,pubkey:s,spent:b,subaddr_index:{major~:i,minor~:i},tx_hash:s,tx_size:i,unlocked:b}]}"],
  getTransfers: ["get_transfers","r","{in?:[{address:s,amount:n,amounts~:[n],confirmations~:i,double_spend_seen:b,fee:n,height:i,locked:b,note:s,payment_id:s,subaddr_index:{major~:i,minor~:i},subaddr_indices~:[{major~:i,minor~:i}],suggested_confirmations_threshold~:n,timestamp:i,txid:s,type:s,unlock_time:n,destinations?:[{amount~:n,address~:s}]}],out?:[{address:s,amount:n,amounts~:[n],confirmations~:i,double_spend_seen:b,fee:n,height:i,locked:b,note:s,payment_id:s,subaddr_index:{major~:i,minor~:i},subaddr_indices~:[{major~:i,minor~:i}],suggested_confirmations_threshold~:n,timestamp:i,txid:s,type:s,unlock_time:n,destinations?:[{amount~:n,address~:s}]}],pending?:[{address:s,amount:n,amounts~:[n],confirmations~:i,double_spend_seen:b,fee:n,height:i,locked:b,note:s,payment_id:s,subaddr_index:{major~:i,minor~:i},subaddr_indices~:[{major~:i,minor~:i}],suggested_confirmations_threshold~:n,timestamp:i,txid:s,type:s,unlock_time:n,destinations?:[{amount~:n,address~:s}]}],failed?:[{address:s,amount:n,amounts~:[n],confirmations~:i,double_spend_seen:b,fee:n,height:i,locked:b,note:s,payment_id:s,subaddr_index:{major~:i,minor~:i},subaddr_indices~:[{major~:i,minor~:i}],suggested_confirmations_threshold~:n,timestamp:i,txid:s,type:s,unlock_time:n,destinations?:[{amount~:n,address~:s}]}],pool?:[{address:s,amount:n,amounts~:[n],confirmations~:i,double_spend_seen:b,fee:n,height:i,locked:b,note:s,payment_id:s,subaddr_index:{major~:i,minor~:i},subaddr_indices~:[{major~:i,minor~:i}],suggested_confirmations_threshold~:n,timestamp:i,txid:s,type:s,unlock_time:n,destinations?:[{amount~:n,address~:s}]}]}"],
  getTransferByTxid: ["get_transfer_by_txid","r","{transfer:{address:s,amount:n,amounts~:[n],confirmations~:i,double_spend_seen:b,fee:n,height:i,locked:b,note:s,payment_id:s,subaddr_index:{major~:i,minor~:i},subaddr_indices~:[{major~:i,minor~:i}],suggested_confirmations_threshold~:n,timestamp:i,txid:s,type:s,unlock_time:n,destinations?:[{amount~:n,address~:s}]},transfers~:[{address:s,amount:n,amounts~:[n],confirmations~:i,double_spend_seen:b,fee:n,height:i,locked:b,note:s,payment_id:s,subaddr_index:{major~:i,minor~:i},subaddr_indices~:[{major~:i,minor~:i}],suggested_confirmations_threshold~:n,timestamp:i,txid:s,type:s,unlock_time:n,destinations?:[{amount~:n,address~:s}]}]}"],
  setTxNotes: ["set_tx_notes","","{}"],
  getTxNotes: ["get_tx_notes","r","{notes~:[s]}"],
  freeze: ["freeze","","{}"],
  thaw: ["thaw","","{}"],
  frozen: ["frozen","r","{frozen:b}"],
  queryKey: ["query_key","r","{key:s}"],
  makeIntegratedAddress: ["make_integrated_address","r","{integrated_address:s,payment_id:s}"],
  splitIntegratedAddress: ["split_integrated_address","r","{is_subaddress:b,payment:s,payment_id:s,standard_address:s}"],
  setAttribute: ["set_attribute","","{}"],
  getAttribute: ["get_attribute","r","{value:s}"],
  getTxKey: ["get_tx_key","r","{tx_key:s}"],
  checkTxKey: ["check_tx_key","r","{confirmations:i,in_pool:b,received:n}"],
  makeUri: ["make_uri","r","{uri:s}"],
  parseUri: ["parse_uri","r","{uri:{address:s,amount~:n,payment_id~:s,recipient_name~:s,tx_description~:s},unknown_parameters~:[s]}"],
  getTxProof: ["get_tx_proof","r","{signature:s}"],
  checkTxProof: ["check_tx_proof","r","{confirmations:i,good:b,in_pool:b,received:n}"],
  getSpendProof: ["get_spend_proof","r","{signature:s}"],
  checkSpendProof: ["check_spend_proof","r","{good:b}"],
  getReserveProof: ["get_reserve_proof","r","{signature:s}"],
  checkReserveProof: ["check_reserve_proof","r","{good:b,spent:n,total:n}"],
  sign: ["sign","r","{signature:s}"],
  verify: ["verify","r","{good:b,old:b,signature_type:s,version:i}"],
  isMultisig: ["is_multisig","r","{multisig:b,ready:b,threshold:i,total:i}"],
  prepareMultisig: ["prepare_multisig","","{multisig_info:s}"],
  makeMultisig: ["make_multisig","","{address:s,multisig_info:s}"],
  finalizeMultisig: ["finalize_multisig","","{address:s}"],
  exchangeMultisigKeys: ["exchange_multisig_keys","","{address:s,multisig_info:s}"],
  exportMultisigInfo: ["export_multisig_info","","{info:s}"],
  importMultisigInfo: ["import_multisig_info","","{n_outputs:i}"],
  signMultisig: ["sign_multisig","","{tx_data_hex:s,tx_hash_list~:[s]}"],
  submitMultisig: ["submit_multisig","k","{tx_hash_list~:[s]}"],
  getAddressBook: ["get_address_book","r","{entries~:[{address:s,description:s,index:i,payment_id:s}]}"],
  addAddressBook: ["add_address_book","","{index:i}"],
  editAddressBook: ["edit_address_book","","{}"],
  deleteAddressBook: ["delete_address_book","","{}"],
  getLanguages: ["get_languages","r","{languages~:[s],languages_local~:[s]}"],
  createWallet: ["create_wallet","","{}"],
  openWallet: ["open_wallet","","{}"],
  closeWallet: ["close_wallet","","{}"],
  listWallets: ["list_wallets","r","{wallets~:[{name:s,open:b}],more:b}"],
  changeWalletPassword: ["change_wallet_password","","{}"],
  setSubaddressLookahead: ["set_subaddress_lookahead","","{}"],
  generateFromKeys: ["generate_from_keys","","{address:s,info:s}"],
  restoreDeterministicWallet: ["restore_deterministic_wallet","","{address:s,info:s,seed:s,was_deprecated:b}"],
  setupBackgroundSync: ["setup_background_sync","","{}"],
  startBackgroundSync: ["start_background_sync","","{}"],
  stopBackgroundSync: ["stop_background_sync","","{}"],
  addWebhook: ["add_webhook","","{webhook_id:s,secret:s}"],
  listWebhooks: ["list_webhooks","r","{webhooks~:[{webhook_id:s,url:s,wallets~:[s],events~:[s],disabled:s,sequence:i,attempts:i,next_attempt:i,missed:i}]}"],
  removeWebhook: ["remove_webhook","","{}"],
  enableWebhook: ["enable_webhook","","{}"],
  listDeadLetters: ["list_dead_letters","r","{dead_letters~:[{sequence:i,timestamp:i,attempts:i,reason:s}],more:b}"],
  replayDeadLetters: ["replay_dead_letters","","{delivered:i,failed:i}"],
  createToken: ["create_token","","{token_id:s,token:s}"],
  listTokens: ["list_tokens","r","{tokens~:[{token_id:s,name:s,scopes~:[s],wallets~:[s],created:i,expires:i,revoked:i,last_used:i,cap_hour?:n,cap_day?:n,spent_hour:n,spent_day:n}]}"],
  revokeToken: ["revoke_token","","{}"],
  setDaemon: ["set_daemon","","{}"],
  refresh: ["refresh","","{blocks_fetched:i,received_money:b}"],
  autoRefresh: ["auto_refresh","","{}"],
  scanTx: ["scan_tx","","{}"],
  rescanSpent: ["rescan_spent","","{}"],
  rescanBlockchain: ["rescan_blockchain","","{}"],
  startMining: ["start_mining","","{}"],
  stopMining: ["stop_mining","","{}"],
  stopWallet: ["stop_wallet","","{}"],
  setLogLevel: ["set_log_level","","{}"],
  setLogCategories: ["set_log_categories","","{categories:s}"],
  getVersion: ["get_version","r","{release:b,version:i}"],
};
