/** Asks a service over HTTP; returns the answer's text, read by `JSON.parse`, as whoever recorded it has. */
export async function askExact(url: string, method: string, params: object): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: "0", method, params });
  const headers = { "content-type": "application/json" };
  const response = await fetch(new URL("/json_rpc", url), { method: "POST", headers, body });
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}
