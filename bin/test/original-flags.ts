/** Names that `--help` of monerod and monero-wallet-rpc 0.18.5.3 lists. */
export const originalFlags = {
  node: `
    add-exclusive-node add-peer add-priority-node allow-local-ip
    anonymous-inbound ban-list bg-mining-enable bg-mining-idle-threshold
    bg-mining-ignore-battery bg-mining-min-idle-interval bg-mining-miner-target block-download-max-size
    block-notify block-rate-notify block-sync-size bootstrap-daemon-address
    bootstrap-daemon-login bootstrap-daemon-proxy check-updates config-file
    confirm-external-bind confirm-zmq-rpc-external-bind data-dir db-salvage
    db-sync-mode detach disable-dns-checkpoints disable-rpc-ban
    enable-dns-blocklist enforce-dns-checkpointing extra-messages-file fast-block-sync
    fixed-difficulty fluffy-blocks help hide-my-port
    igd in-peers keep-alt-blocks keep-fakechain
    limit-rate limit-rate-down limit-rate-up log-file
    log-level max-concurrency max-connections-per-ip max-log-file-size
    max-log-files max-txpool-weight mining-threads no-igd
    no-sync no-zmq non-interactive offline
    os-version out-peers p2p-bind-ip p2p-bind-ipv6-address
    p2p-bind-port p2p-bind-port-ipv6 p2p-external-port p2p-ignore-ipv4
    p2p-use-ipv6 pad-transactions pidfile prep-blocks-threads
    proxy proxy-allow-dns-leaks prune-blockchain public-node
    regtest reorg-notify restricted-rpc restricted-zmq-rpc
    rpc-access-control-origins rpc-bind-ip rpc-bind-ipv6-address rpc-bind-port
    rpc-ignore-ipv4 rpc-login rpc-max-connections rpc-max-connections-per-private-ip
    rpc-max-connections-per-public-ip rpc-payment-address rpc-payment-allow-free-loopback rpc-payment-credits
    rpc-payment-difficulty rpc-response-soft-limit rpc-restricted-bind-ip rpc-restricted-bind-ipv6-address
    rpc-restricted-bind-port rpc-ssl rpc-ssl-allow-any-cert rpc-ssl-allow-chained
    rpc-ssl-allowed-fingerprints rpc-ssl-ca-certificates rpc-ssl-certificate rpc-ssl-private-key
    rpc-use-ipv6 seed-node show-time-stats stagenet
    start-mining sync-pruned-blocks test-dbg-lock-sleep test-drop-download
    test-drop-download-height testnet tos-flag tx-proxy
    version zmq-pub zmq-rpc-bind-ip zmq-rpc-bind-port
  `,
  wallet: `
    allow-mismatched-daemon-version bitmessage-address bitmessage-login config-file
    confirm-external-bind daemon-address daemon-host daemon-login
    daemon-port daemon-ssl daemon-ssl-allow-any-cert daemon-ssl-allow-chained
    daemon-ssl-allowed-fingerprints daemon-ssl-ca-certificates daemon-ssl-certificate daemon-ssl-private-key
    detach disable-rpc-ban disable-rpc-login extra-entropy
    generate-from-json help hw-device hw-device-deriv-path
    kdf-rounds log-file log-level max-concurrency
    max-log-file-size max-log-files no-dns no-initial-sync
    non-interactive offline password password-file
    pidfile prompt-for-password proxy restricted-rpc
    rpc-access-control-origins rpc-bind-ip rpc-bind-ipv6-address rpc-bind-port
    rpc-client-secret-key rpc-ignore-ipv4 rpc-login rpc-max-connections
    rpc-max-connections-per-private-ip rpc-max-connections-per-public-ip rpc-response-soft-limit rpc-restricted-bind-ip
    rpc-restricted-bind-ipv6-address rpc-ssl rpc-ssl-allow-chained rpc-ssl-allowed-fingerprints
    rpc-ssl-ca-certificates rpc-ssl-certificate rpc-ssl-private-key rpc-use-ipv6
    shared-ringdb-dir stagenet testnet trusted-daemon
    tx-notify untrusted-daemon version wallet-dir
    wallet-file
  `,
};
