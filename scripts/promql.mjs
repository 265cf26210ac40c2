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
    const match = token.exec(text);
    if (match === null) throw new Error(`cannot be read: ${text.slice(at)}`);
    const [[kind, value]] = Object.entries(match.groups).filter(([, part]) => part !== undefined);
    tokens.push({ kind, value });
  }
  return tokens;
}

/** Walks through the tokens of one expression, noting the selectors and the labels it groups by. */
class Parser {
  selectors = [];
  groups = [];
  #tokens;
  #at = 0;

  constructor(text) {
    this.#tokens = tokensOf(text);
  }

  get #peek() {
    return this.#tokens[this.#at]?.value;
  }

  #next(kind) {
    const token = this.#tokens[this.#at++];
    if (token === undefined || (kind !== undefined && token.kind !== kind))
      throw new Error(`${kind ?? "more"} expected in place of ${token?.value ?? "the end"}`);
    return token.value;
  }

  #expect(value) {
    const token = this.#next();
    if (token !== value) throw new Error(`${value} expected in place of ${token}`);
  }

  #listTo(close, item) {
    const items = [];
    while (this.#peek !== close) {
      items.push(item());
      if (this.#peek !== close) this.#expect(",");
    }
    this.#expect(close);
    return items;
  }

  #matcher() {
    const label = this.#next("name");
    const sign = this.#next("sign");
    if (!["=", "!=", "=~", "!~"].includes(sign)) throw new Error(`no matcher: ${sign}`);
    return { label, sign, value: this.#next("text").slice(1, -1) };
  }

  #selector(name) {
    const selector = { name, matchers: [], range: undefined };
    if (this.#peek === "{") {
      this.#next();
      selector.matchers = this.#listTo("}", () => this.#matcher());
    }
    if (this.#tokens[this.#at]?.kind === "range") selector.range = this.#next("range");
    this.selectors.push(selector);
  }

  #aggregation() {
    const from = this.selectors.length;
    let labels = [];
    if (this.#peek === "by") {
      this.#next();
      this.#expect("(");
      labels = this.#listTo(")", () => this.#next("name"));
    }
    this.#expect("(");
    this.#expression();
    this.#expect(")");
    this.groups.push({ labels, selectors: this.selectors.slice(from) });
  }

  #call(name) {
    const from = this.selectors.length;
    this.#expect("(");
    this.#listTo(")", () => this.#expression());
    const hasRange = this.selectors.slice(from).some(({ range }) => range !== undefined);
    if (overTime.has(name) && !hasRange) throw new Error(`${name} needs a range`);
  }

  #operand() {
    if (this.#tokens[this.#at]?.kind === "number") return this.#next();
    if (this.#peek === "(") {
      this.#next();
      this.#expression();
      return this.#expect(")");
    }
    const name = this.#next("name");
    if (aggregations.has(name)) return this.#aggregation();
    if (functions.has(name)) return this.#call(name);
    if (this.#peek === "(") throw new Error(`no function we use: ${name}`);
    this.#selector(name);
  }

  #expression() {
    this.#operand();
    while (operators.includes(this.#peek)) {
      this.#next();
      this.#operand();
    }
  }

  parse() {
    this.#expression();
    if (this.#at < this.#tokens.length) throw new Error(`more than one expression, at ${this.#peek}`);
  }
}

/**
 * The selectors of an expression, with their matchers ({ label, sign, value }), and the labels that it groups by, with
 * the selectors below.
 */
export function parsePromql(text) {
  const parser = new Parser(text);
  parser.parse();
  const { selectors, groups } = parser;
  return { selectors, groups };
}
