// The client's reference as Markdown, made only from its types and their comments. Throws if an export or a method has no comment.
import ts from "typescript";

/** The pages, by name. `entries`: the modules that users import, by the names of their pages. */
export function referencePages(entries: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const config = ts.readConfigFile("client/tsconfig.json", ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, "client");
  const program = ts.createProgram(Object.values(entries), { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const silent: string[] = [];
  const operations = operationTexts(program, checker);
  const pages = Object.entries(entries).map(([name, file]) => {
    const source = program.getSourceFile(file);
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file} is no module`);
    const shown = checker.getExportsOfModule(module).filter((symbol) => !TABLES.includes(symbol.name));
    const exported = shown.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const parts = exported.map((symbol) => partOf(symbol, { checker, operations, silent }));
    return [name, parts.filter((part) => part !== "").join("\n\n")];
  });
  if (silent.length > 0) throw new Error(`no comment: ${silent.join(", ")}`);
  return Object.fromEntries(pages);
}

/** The generated types, shown with the methods that use them. */
const TABLES = ["components", "Operations", "PublicOperations"];

interface Context {
  readonly checker: ts.TypeChecker;
  /** The API's description of each operation. */
  readonly operations: ReadonlyMap<string, string>;
  /** Exports and methods without a comment. */
  readonly silent: string[];
}

function operationTexts(program: ts.Program, checker: ts.TypeChecker): ReadonlyMap<string, string> {
  const source = program.getSourceFile("client/api-types.ts");
  const texts = new Map<string, string>();
  const visit = (node: ts.Node): void => {
    if (ts.isPropertySignature(node) && /^(Public)?Operations$/.test(node.name.getText()) && node.type !== undefined)
      for (const each of checker.getTypeFromTypeNode(node.type).getProperties())
        if (!texts.has(each.name)) texts.set(each.name, commentOf(each, checker));
    ts.forEachChild(node, visit);
  };
  if (source !== undefined) visit(source);
  return texts;
}

function partOf(exported: ts.Symbol, context: Context): string {
  const { checker, silent } = context;
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const [declaration] = symbol.getDeclarations() ?? [];
  if (declaration === undefined) throw new Error(`${exported.name} is declared nowhere`);
  const isGenerated = declaration.getSourceFile().fileName.endsWith("api-types.ts");
  const comment = commentOf(symbol, checker);
  if (comment === "" && !isGenerated) silent.push(exported.name);
  const head = `## ${exported.name}`;
  if (ts.isFunctionDeclaration(declaration)) return paragraphs(head, comment, code(signatureText(declaration)));
  if (ts.isClassDeclaration(declaration))
    return paragraphs(head, comment, ...classParts(declaration, exported.name, context));
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  if (isGenerated && type.isUnion()) return paragraphs(head, comment, code(shortType(type, checker)));
  if (isGenerated || ts.isInterfaceDeclaration(declaration))
    return paragraphs(head, comment, memberTable(type, context));
  return paragraphs(head, comment, code(withoutBody(declaration)));
}

const paragraphs = (...parts: readonly string[]) => parts.filter((part) => part !== "").join("\n\n");
const code = (text: string) => `\`\`\`ts\n${text}\n\`\`\``;

function commentOf(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const own = ts.displayPartsToString(symbol.getDocumentationComment(checker));
  const tagged = symbol.getJsDocTags(checker).filter(({ name }) => name === "description");
  return [own, ...tagged.map(({ text }) => ts.displayPartsToString(text))]
    .join(" ")
    .replace("Format: date-time", "ISO 8601.")
    .replace(/Format: \w+/, "")
    .replace(/\s+/g, " ")
    .trim();
}

function signatureText(declaration: ts.FunctionDeclaration | ts.MethodDeclaration): string {
  return withoutBody(declaration).replace(/^(export |async )+/, "");
}

/** The text of a declaration without its body and without `export`. */
function withoutBody(declaration: ts.Declaration): string {
  const text = declaration.getText();
  const { body } = Object(declaration);
  const end = body === undefined ? text.length : text.length - body.getText().length;
  return text
    .slice(0, end)
    .trim()
    .replace(/^export /, "");
}

function classParts(declaration: ts.ClassDeclaration, name: string, context: Context): readonly string[] {
  const { checker, silent } = context;
  const fields: ts.Symbol[] = [];
  const parts: string[] = [];
  for (const member of declaration.members) {
    const symbol = member.name === undefined ? undefined : checker.getSymbolAtLocation(member.name);
    if (ts.isConstructorDeclaration(member))
      parts.push(code(withoutBody(member).replace("constructor", `new ${name}`)));
    if (symbol === undefined || /^(#|__#|__@)/.test(symbol.name)) continue;
    const resource = checker.getTypeOfSymbol(symbol);
    if (ts.isMethodDeclaration(member)) {
      const comment = commentOf(symbol, checker);
      if (comment === "") silent.push(`${name}.${symbol.name}`);
      parts.push(paragraphs(`### ${symbol.name}`, comment, code(signatureText(member))));
    } else if (isResource(resource)) parts.push(resourcePart(symbol.name, resource, context));
    else fields.push(symbol);
  }
  const table = fields.length === 0 ? [] : [tableOf(fields, context)];
  return [...table, ...parts];
}

/** Whether the type is an object of methods, or a single method. */
function isResource(type: ts.Type): boolean {
  const isOwn = (symbol: ts.Symbol | undefined) =>
    /client\/(resources|public)\.ts$/.test(symbol?.getDeclarations()?.[0]?.getSourceFile().fileName ?? "");
  return isOwn(type.getSymbol()) || type.getProperties().some(isOwn);
}

function resourcePart(name: string, type: ts.Type, context: Context): string {
  const methods = type.getProperties();
  const all = type.getCallSignatures().length > 0 ? [] : methods;
  const [own] = type.getSymbol()?.getDeclarations() ?? [];
  if (all.length === 0 && own !== undefined) return paragraphs(`### ${name}`, methodText("", own, context));
  return paragraphs(
    `### ${name}`,
    ...all.map((method) => {
      const [declaration] = method.getDeclarations() ?? [];
      if (declaration === undefined) throw new Error(`${name}.${method.name} is declared nowhere`);
      const comment = commentOf(method, context.checker);
      const text = methodText(comment, declaration, context);
      if (text === "") context.silent.push(`${name}.${method.name}`);
      return `- \`${name}.${method.name}${parametersOf(declaration)}\`: ${text}`;
    }),
  );
}

/** The client's comment on a method, and the API's description of the operation that it calls. */
function methodText(comment: string, declaration: ts.Declaration, { operations }: Context): string {
  const [, operation = ""] = /\b(?:call|open)\(\s*"(\w+)"/.exec(declaration.getText()) ?? [];
  return [comment, operations.get(operation) ?? ""].filter((text) => text !== "").join(" ");
}

function parametersOf(declaration: ts.Declaration): string {
  const text = declaration.getText().replace(/\s+/g, " ");
  const [, parameters = "()"] = /^[^(]*(\((?:[^()]|\([^()]*\))*\))/.exec(text) ?? [];
  return parameters.replaceAll("Api.", "");
}

function memberTable(type: ts.Type, context: Context): string {
  const members = type.getProperties();
  return members.length === 0 ? "" : tableOf(members, context);
}

function tableOf(members: readonly ts.Symbol[], { checker }: Context): string {
  const rows = members.map((member) => {
    const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0;
    const type = writtenType(member, checker).replaceAll("|", "\\|");
    return `| \`${member.name}\`${isOptional ? " (optional)" : ""} | \`${type}\` | ${commentOf(member, checker).replaceAll("|", "\\|")} |`;
  });
  return ["| member | type | |", "|---|---|---|", ...rows].join("\n");
}

/** The type as written, which keeps the names of other types, or else as the compiler infers it. */
function writtenType(member: ts.Symbol, checker: ts.TypeChecker): string {
  const { type } = Object(member.valueDeclaration);
  if (type === undefined) return shortType(checker.getTypeOfSymbol(member), checker);
  const text: string = type.getText();
  const named = text
    .replace(/\/\*\*.*?\*\//gs, "")
    .replace(/components\["schemas"\]\["(\w+)"\]/g, "$1")
    .replace(/\s+/g, " ")
    .replace(/^\| |(?<=\() \| /g, "");
  return shortened(named.replace(/^\((.*)\) \| undefined$/, "$1").replace(/ \| undefined$/, ""));
}

const LONGEST = 160;

/** Long lists of literals are abbreviated. */
function shortType(type: ts.Type, checker: ts.TypeChecker): string {
  const text = checker.typeToString(type, undefined, ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope);
  return shortened(text);
}

function shortened(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
}
