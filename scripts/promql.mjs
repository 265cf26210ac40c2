// Reads the part of PromQL that our dashboards and alerts are written in; throws an Error for anything else.

const functions = new Set(["rate", "increase", "changes", "histogram_quantile"]);
const aggregations = new Set(["sum", "max", "min", "avg", "count"]);
const operators = ["==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/"];
const overTime = new Set(["rate", "increase", "changes"]);

const token =
  /\s*(?:(?<number>\d+(?:\.\d+)?)(?![\w])|(?<name>[a-zA-Z_]\w*)|(?<text>"[^"\\]*")|(?<range>\[\d+[smhd]\])|(?<sign>==|!=|<=|>=|=~|!~|[<>=+\-*/(){},]))/y;

function tokensOf(text) {
  const tokens = [];
  token.lastIndex = 0;
  while (text.slice(token.lastIndex).trim() !== "") {
    const at = token.lastIndex;
    const found = token.exec(text);
    if (found === null) throw new Error(`cannot be read: ${text.slice(at)}`);
    const [[kind, value]] = Object.entries(found.groups).filter(([, part]) => part !== undefined);
    tokens.push({ kind, value });
  }
  return tokens;
}

/**
 * The selectors of an expression, with their matchers ({ label, sign, value }), and the labels that it groups by, with
 * the selectors below.
 */
export function parsePromql(text) {
  const tokens = tokensOf(text);
  const selectors = [];
  const groups = [];
  let at = 0;
  const peek = () => tokens[at]?.value;
  const next = (kind) => {
    const found = tokens[at++];
    if (found === undefined || (kind !== undefined && found.kind !== kind))
      throw new Error(
        `${kind ?? "more"} expected after ${tokens
          .slice(0, at - 1)
          .map(({ value }) => value)
          .join(" ")}`,
      );
    return found.value;
  };
  const expect = (value) => {
    const found = next();
    if (found !== value) throw new Error(`${value} expected in place of ${found}`);
  };
  const listOf = (close, item) => {
    const items = [];
    while (peek() !== close) {
      items.push(item());
      if (peek() !== close) expect(",");
    }
    expect(close);
    return items;
  };
  const selector = (name) => {
    const found = { name, matchers: [], range: undefined };
    if (peek() === "{") {
      next();
      found.matchers = listOf("}", () => {
        const label = next("name");
        const sign = next("sign");
        if (!["=", "!=", "=~", "!~"].includes(sign)) throw new Error(`no matcher: ${sign}`);
        return { label, sign, value: next("text").slice(1, -1) };
      });
    }
    if (tokens[at]?.kind === "range") found.range = next("range");
    selectors.push(found);
  };
  const aggregation = () => {
    const from = selectors.length;
    let labels = [];
    if (peek() === "by") {
      next();
      expect("(");
      labels = listOf(")", () => next("name"));
    }
    expect("(");
    expression();
    expect(")");
    groups.push({ labels, selectors: selectors.slice(from) });
  };
  const call = (name) => {
    const from = selectors.length;
    expect("(");
    listOf(")", expression);
    const hasRange = selectors.slice(from).some(({ range }) => range !== undefined);
    if (overTime.has(name) && !hasRange) throw new Error(`${name} needs a range`);
  };
  const operand = () => {
    if (tokens[at]?.kind === "number") return next();
    if (peek() === "(") {
      next();
      expression();
      return expect(")");
    }
    const name = next("name");
    if (aggregations.has(name)) return aggregation();
    if (functions.has(name)) return call(name);
    if (peek() === "(") throw new Error(`no function we use: ${name}`);
    selector(name);
  };
  function expression() {
    operand();
    while (operators.includes(peek())) {
      next();
      operand();
    }
  }
  expression();
  if (at < tokens.length) throw new Error(`more than one expression, at ${peek()}`);
  return { selectors, groups };
}
