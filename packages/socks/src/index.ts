export { connectThrough, PROXY_TIMEOUT_MS, SocksFailed, type Target } from "./connect.ts";
export { parseSocksProxy, type SocksProxy } from "./proxy.ts";
