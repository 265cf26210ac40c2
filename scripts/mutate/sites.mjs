// Where a source can be changed so that a good test should notice, and how.
import ts from "typescript";

/** Kept apart from the rest because a longer or shorter wait by one unit is nothing a test could see. */
const isDuration = (name) => /(_MS|Ms|_SECONDS|Seconds|_MINUTES|_HOURS)$/.test(name);

const operators = {
  "<": ["<=", ">"],
  "<=": ["<", ">"],
  ">": [">=", "<"],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "&&": ["||"],
  "||": ["&&"],
  "+": ["-"],
  "-": ["+"],
  "*": ["+"],
  "/": ["*"],
  "%": ["*"],
  "<<": [">>"],
  ">>": ["<<"],
  ">>>": ["<<"],
  "&": ["|"],
  "|": ["&"],
  "^": ["&"],
  "+=": ["-="],
  "-=": ["+="],
};

const methods = { some: "every", every: "some", min: "max", max: "min" };
/** Calls without which a list has members it should not have, or another order. */
const droppedMethods = new Set(["filter", "sort", "toSorted", "reverse", "toReversed"]);

const isText = (node) =>
  ts.isStringLiteralLike(node) ||
  ts.isTemplateExpression(node) ||
  (ts.isBinaryExpression(node) && (isText(node.left) || isText(node.right)));

/** Text for people: tests need not know it by heart. */
function isMessage(node) {
  if (ts.isTemplateExpression(node)) return true;
  if (ts.isNewExpression(node)) return /Error$/.test(node.expression.getText());
  if (!ts.isCallExpression(node)) return false;
  return /(^|\.|\b)(log|logger|console|process\.std(out|err))(\s*\??\.in\([^()]*\))?\s*\??\.\w+$/.test(
    node.expression.getText(),
  );
}

/** What has no part in the running program. */
function isErased(node) {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isTypeParameterDeclaration(node)
  );
}

function changesOfBinary(node) {
  const operator = node.operatorToken.getText();
  const changes = [];
  const isConcatenation = operator.startsWith("+") && isText(node);
  for (const other of isConcatenation ? [] : (operators[operator] ?? []))
    changes.push({ kind: "operator", node: node.operatorToken, by: other });
  if (operator === "??") changes.push({ kind: "no default", node, by: node.left.getText() });
  return changes;
}

/** Whether a number is a size of memory that is taken for a result of a kernel: more of it changes nothing. */
function isRoom(node) {
  const { parent } = node;
  if (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.AsteriskToken)
    return isRoom(parent);
  return (
    ts.isCallExpression(parent) &&
    parent.arguments[0] === node &&
    parent.expression.getText() === "memory.room"
  );
}

/** Whether a number is a size with which a writer begins: it grows as it is written to. */
const isBeginning = ({ parent }) => ts.isNewExpression(parent) && parent.expression.getText() === "Writer";

function changesOfNumber(node) {
  if (isBeginning(node)) return [];
  const declared = ts.findAncestor(node, (above) => ts.isVariableDeclaration(above) || ts.isBlock(above));
  const name = declared?.name?.getText() ?? "";
  const property = ts.isPropertyAssignment(node.parent) ? node.parent.name.getText() : "";
  if (isDuration(name) || isDuration(property)) return [{ kind: "no time", node, by: "0" }];
  if (ts.isBigIntLiteral(node)) {
    const value = BigInt(node.getText().replaceAll("_", "").slice(0, -1));
    return [value + 1n, value - 1n].map((by) => ({
      kind: "constant",
      node,
      by: by < 0n ? `(${by}n)` : `${by}n`,
    }));
  }
  const value = Number(node.getText().replaceAll("_", ""));
  if (!Number.isSafeInteger(value)) return [];
  const others = isRoom(node) ? [value - 1] : [value + 1, value - 1];
  return others.map((by) => ({ kind: "constant", node, by: by < 0 ? `(${by})` : `${by}` }));
}

/** A call for its effect alone, an assignment that adds to something, a refusal. */
function isDroppable({ expression }) {
  if (isMessage(expression)) return false;
  const bare = ts.isAwaitExpression(expression) ? expression.expression : expression;
  if (ts.isCallExpression(bare))
    return bare.expression.kind !== ts.SyntaxKind.SuperKeyword && !isMessage(bare);
  return ts.isBinaryExpression(bare) || ts.isPostfixUnaryExpression(bare) || ts.isDeleteExpression(bare);
}

function changesOfCall(node) {
  const { expression } = node;
  if (!ts.isPropertyAccessExpression(expression)) return [];
  const name = expression.name.getText();
  if (droppedMethods.has(name)) return [{ kind: `no ${name}`, node, by: expression.expression.getText() }];
  const other = Object.hasOwn(methods, name) ? methods[name] : undefined;
  return other === undefined ? [] : [{ kind: "operator", node: expression.name, by: other }];
}

/** Whether the function returns what is awaited, and would wait for it anyway: what it throws is not caught here. */
function isReturned(node) {
  if (ts.isArrowFunction(node.parent)) return true;
  const isEnd = (above) => ts.isFunctionLike(above) || ts.isTryStatement(above);
  return ts.isReturnStatement(node.parent) && !ts.isTryStatement(ts.findAncestor(node, isEnd));
}

function changesOf(node) {
  if (ts.isBinaryExpression(node)) return changesOfBinary(node);
  if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) return changesOfNumber(node);
  if (ts.isCallExpression(node)) return changesOfCall(node);
  if (ts.isAwaitExpression(node))
    return isReturned(node) ? [] : [{ kind: "no await", node, by: `(${node.expression.getText()})` }];
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [{ kind: "no negation", node, by: `(${node.operand.getText()})` }];
  if (ts.isConditionalExpression(node))
    return [
      { kind: "first branch", node, by: `(${node.whenTrue.getText()})` },
      { kind: "second branch", node, by: `(${node.whenFalse.getText()})` },
    ];
  if (ts.isIfStatement(node))
    return ["true", "false"].map((by) => ({ kind: `if ${by}`, node: node.expression, by }));
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [{ kind: "constant", node, by: "false" }];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [{ kind: "constant", node, by: "true" }];
  if (ts.isThrowStatement(node)) return [{ kind: "no throw", node, by: "{}" }];
  if (ts.isExpressionStatement(node) && isDroppable(node)) return [{ kind: "no statement", node, by: "{}" }];
  return [];
}

/** Name of the function, class or constant a node belongs to. */
function placeOf(node) {
  const names = [];
  for (let above = node; above !== undefined; above = above.parent) {
    const isNamed = ts.isFunctionLike(above) || ts.isClassLike(above) || ts.isVariableDeclaration(above);
    if (isNamed && above.name !== undefined) names.unshift(above.name.getText());
  }
  return names.join(".") || "(module)";
}

const squeezed = (text) => text.replace(/\s+/g, " ").trim();

/** The lines of a change, before and after, without indentation. */
export function describe(text, { start, end, replacement }) {
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const to = text.indexOf("\n", end) === -1 ? text.length : text.indexOf("\n", end);
  const before = squeezed(text.slice(from, to));
  return { before, after: squeezed(text.slice(from, start) + replacement + text.slice(end, to)) };
}

/** Every change of a source: where it is (offsets into `text`), what comes in its place, and of what kind it is. */
export function sitesOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  const sites = [];
  const visit = (node) => {
    if (isErased(node) || isMessage(node)) return;
    for (const { kind, node: changed, by } of changesOf(node)) {
      const start = changed.getStart(source);
      const line = source.getLineAndCharacterOfPosition(start).line + 1;
      sites.push({ file, kind, line, start, end: changed.end, replacement: by, in: placeOf(node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return sites;
}
