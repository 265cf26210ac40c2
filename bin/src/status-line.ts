/** The status of a node, for its operator. */
export interface NodeStatus {
  readonly height: number;
  /** Number of blocks of the longest chain that peers announced, or of ours. */
  readonly target: number;
  readonly peers: number;
  /** Why there are no peers; undefined if there are, or if none are needed. */
  readonly withoutPeers: string | undefined;
}

export interface StatusLine {
  stop(): void;
}

interface Terminal {
  readonly isTTY?: boolean;
  write(text: string): boolean;
}

export interface StatusLineOptions {
  readonly status: () => NodeStatus;
  readonly out?: Terminal;
  /** Writes a line to the log, if the output is not a terminal. */
  readonly log: (fields: Readonly<Record<string, unknown>>) => void;
  /** Returns milliseconds. */
  readonly now?: () => number;
  /** Calls a function every `ms` milliseconds; returns a function that stops it. */
  readonly every?: (ms: number, run: () => void) => () => void;
}

const TERMINAL_MS = 1000;
/** Milliseconds between log lines while blocks are downloaded, and afterwards. */
const BUSY_LOG_MS = 60_000;
const IDLE_LOG_MS = 3_600_000;
/** Period (milliseconds) of the displayed speed. */
const RATE_MS = 60_000;

function systemEvery(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms).unref();
  return () => clearInterval(timer);
}

/** Blocks per second over the last minute, from the heights seen in it. */
function createRate(): (height: number, now: number) => number {
  const samples: { readonly height: number; readonly at: number }[] = [];
  return (height, now) => {
    samples.push({ height, at: now });
    while (samples.length > 2 && now - samples[0]!.at > RATE_MS) samples.shift();
    const first = samples[0]!;
    return now === first.at ? 0 : Math.max(0, (1000 * (height - first.height)) / (now - first.at));
  };
}

/** "12 s", "5 min" or "3 h"; "?" if it is not known. */
function timeLeft(seconds: number): string {
  if (!Number.isFinite(seconds)) return "?";
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  return seconds < 6000 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}

/** The text of the line. */
export function describeStatus(status: NodeStatus, blocksPerSecond: number): string {
  const { height, target, peers, withoutPeers } = status;
  const peerText = withoutPeers === undefined ? `${peers} peers` : `no peers: ${withoutPeers}`;
  if (height >= target) return `height ${height}, ${peerText}`;
  const remaining = timeLeft((target - height) / blocksPerSecond);
  return `height ${height} of ${target}, ${blocksPerSecond.toFixed(1)} blocks/s, ${remaining} left, ${peerText}`;
}

/** Shows the status of a node: on a terminal in one line that is updated, otherwise in the log at intervals. */
export function startStatusLine(options: StatusLineOptions): StatusLine {
  const { status, log, out = process.stdout, now = () => performance.now(), every = systemEvery } = options;
  const rateOf = createRate();
  let loggedAt = Number.NEGATIVE_INFINITY;
  const show = () => {
    const current = status();
    const blocksPerSecond = rateOf(current.height, now());
    if (out.isTTY) {
      out.write(`\r${describeStatus(current, blocksPerSecond)}\u001b[K`);
      return;
    }
    const { height, target, peers, withoutPeers } = current;
    const isBusy = height < target || withoutPeers !== undefined;
    if (now() - loggedAt < (isBusy ? BUSY_LOG_MS : IDLE_LOG_MS)) return;
    loggedAt = now();
    const speed = height < target && { blocksPerSecond: Math.round(blocksPerSecond * 10) / 10 };
    log({ height, target, ...speed, peers, ...(withoutPeers !== undefined && { withoutPeers }) });
  };
  show();
  const end = every(TERMINAL_MS, show);
  return {
    stop() {
      end();
      if (out.isTTY) out.write("\n");
    },
  };
}
