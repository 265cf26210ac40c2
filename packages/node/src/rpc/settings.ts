/** What callers may set while the node runs. Rates in kB per second. */
export interface Settings {
  limitDown: number;
  limitUp: number;
  outPeers: number;
  inPeers: number;
  logCategories: string;
  /** Another node to answer while this one is behind, "" for none; a node without peers never is. */
  bootstrapDaemon: string;
}

/** Source: cryptonote_config.h P2P_DEFAULT_LIMIT_RATE_*. */
export const defaultLimits = { down: 8192, up: 2048 } as const;

/** Source: misc_log_ex.h `mlog_get_default_log_path`, mlog.cpp `get_default_categories`. */
const logLevels: readonly string[] = [
  "*:WARNING,net:FATAL,net.http:FATAL,net.ssl:FATAL,net.p2p:FATAL,net.cn:FATAL,daemon.rpc:FATAL," +
    "global:INFO,verify:FATAL,serialization:FATAL,daemon.rpc.payment:ERROR,stacktrace:INFO,logging:INFO,msgwriter:INFO",
  "*:INFO,global:INFO,stacktrace:INFO,logging:INFO,msgwriter:INFO,perf.*:DEBUG",
  "*:DEBUG",
  "*:TRACE,*.dump:DEBUG",
  "*:TRACE",
];

/** Log categories of a level from 0 to 4. */
export function categoriesOfLevel(level: number): string {
  return logLevels[level] ?? "";
}

/** The set the interface document names for requests without categories. Source: node-service.md. */
export const documentedCategories =
  "*:WARNING,net:FATAL,net.p2p:FATAL,net.cn:FATAL,global:INFO,verify:FATAL,stacktrace:INFO,logging:INFO,msgwriter:INFO";

/** Settings of a node that was told nothing. */
export function defaultSettings(): Settings {
  return {
    limitDown: defaultLimits.down,
    limitUp: defaultLimits.up,
    outPeers: 12,
    inPeers: 0xffffffff,
    logCategories: categoriesOfLevel(0),
    bootstrapDaemon: "",
  };
}
