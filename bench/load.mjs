// Asks one request again and again over keep-alive connections, each answer awaited before the next request.
import { connect } from "node:net";
import { cpuSeconds } from "./process.mjs";

const HEAD_END = "\r\n\r\n";

/** Bytes of a request as a client library sends it. */
export function requestBytes(path, body, type = "application/json") {
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(body)]);
}

export function jsonRequest(path, body) {
  return requestBytes(path, Buffer.from(JSON.stringify(body)));
}

export function methodRequest(method, params = {}) {
  return jsonRequest("/json_rpc", { jsonrpc: "2.0", id: "0", method, params });
}

/** One connection that calls `onAnswer` with each answer's size in bytes; `send` asks once. */
export function openConnection(port, onAnswer) {
  let left = 0;
  let size = 0;
  const onBytes = (length, bytes) => {
    if (left === 0) {
      const head = bytes.latin1Slice(0, Math.min(length, 1024));
      const end = head.indexOf(HEAD_END);
      const at = head.indexOf("Content-Length: ");
      if (!head.startsWith("HTTP/1.1 200") || end < 0 || at < 0) throw new Error(`no answer: ${head}`);
      size = Number.parseInt(head.slice(at + 16), 10);
      left = end + HEAD_END.length + size;
    }
    left -= length;
    if (left === 0) onAnswer(size);
    return true;
  };
  const onread = { buffer: Buffer.allocUnsafe(64 * 1024), callback: onBytes };
  const socket = connect({ port, host: "127.0.0.1", noDelay: true, onread });
  // Else whoever counts responses would wait for one that never comes.
  socket.once("end", () => {
    throw new Error("the server has closed a connection");
  });
  const opened = new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return { opened, send: (request) => socket.write(request), close: () => socket.destroy() };
}

/** Requests per second, asked one after another and again, and microseconds of the server's processor time for each. */
export async function requestRate({ pid, port, requests, connections = 16, seconds = 1 }) {
  let answers = 0;
  let asked = 0;
  const next = () => requests[asked++ % requests.length];
  let bytes = 0;
  let isOver = false;
  let running = connections;
  let allDone = () => {};
  const done = new Promise((resolve) => {
    allDone = resolve;
  });
  const open = () => {
    const connection = openConnection(port, (size) => {
      answers += 1;
      bytes = size;
      if (!isOver) connection.send(next());
      else if (--running === 0) allDone();
    });
    return connection;
  };
  const all = Array.from({ length: connections }, open);
  await Promise.all(all.map(({ opened }) => opened));
  const cpu = cpuSeconds(pid);
  const start = performance.now();
  for (const connection of all) connection.send(next());
  setTimeout(() => {
    isOver = true;
  }, 1000 * seconds);
  await done;
  const elapsed = (performance.now() - start) / 1000;
  const used = cpuSeconds(pid) - cpu;
  for (const connection of all) connection.close();
  return { rate: answers / elapsed, cpu: (1e6 * used) / answers, bytes };
}

/** The best of some rounds on each side, turn by turn: `requests` asked of `servers.native` and `servers.ours`. */
export async function bestRates(servers, requests, rounds) {
  const best = { native: { rate: 0, cpu: 0 }, ours: { rate: 0, cpu: 0 } };
  for (let round = 0; round < rounds; round++) {
    for (const side of ["native", "ours"]) {
      const { pid, port } = servers[side];
      const measured = await requestRate({ pid, port, requests });
      if (measured.rate > best[side].rate) best[side] = measured;
    }
  }
  return best;
}

/** Two rows of the table: requests a second, and the processor time of one; `limits` for each, or none. */
export function rateRows(name, { ours, native }, { rate, cpu }) {
  return [
    { name, unit: "requests/s", ours: ours.rate, native: native.rate, ...rate },
    { name: "  processor time", unit: "µs/request", ours: ours.cpu, native: native.cpu, ...cpu },
  ];
}
