/** The API reference: every export of the package's entry points, with its declaration and doc comment. */
import { join, relative } from "node:path";
import ts from "typescript";
import { fence, page } from "./markdown.ts";

const ENTRIES = [
  { name: "rookery", file: "src/index.ts", page: "api.md", about: "[Library](../library.md) introduces it." },
  {
    name: "rookery/acp",
    file: "src/acp/index.ts",
    page: "api-acp.md",
    about: "[ACP toolkit](../acp-toolkit.md) introduces it.",
  },
  {
    name: "rookery/client",
    file: "src/client/index.ts",
    page: "api-client.md",
    about: "[Server](../server.md) introduces it.",
  },
  {
    name: "rookery/testing",
    file: "src/testing/index.ts",
    page: "api-testing.md",
    about: "[Testing kit](../testing.md) introduces it.",
  },
] as const;

export function apiPages(root: string): Record<string, string> {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    noResolve: false,
    types: [],
    skipLibCheck: true,
    noLib: true,
  };
  const program = ts.createProgram(
    ENTRIES.map(({ file }) => join(root, file)),
    options,
    ownFilesOnly(options, root),
  );
  const checker = program.getTypeChecker();
  return Object.fromEntries(
    ENTRIES.map(({ name, file, page: target, about }) => {
      const source = program.getSourceFile(join(root, file));
      const module = source && checker.getSymbolAtLocation(source);
      if (module === undefined) throw new Error(`${file} has no exports`);
      const sections = checker
        .getExportsOfModule(module)
        .toSorted((one, other) => compare(one.name, other.name))
        .map((symbol) => describe(symbol, checker, root));
      const index = sections.map(({ title }) => `[\`${title}\`](#${title.toLowerCase()})`).join(" · ");
      const text = `\`import { … } from "${name}"\`. ${about}`;
      return [
        `docs/reference/${target}`,
        page(`API: ${name}`, file, [text, index, ...sections.map(({ body }) => body)]),
      ];
    }),
  );
}

/** Compares names by code units, so that the order is the same on every machine. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Does not read the declarations of dependencies, because the pages show only our own files. */
function ownFilesOnly(options: ts.CompilerOptions, root: string): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const resolve = (name: string, from: string): ts.ResolvedModuleFull | undefined => {
    if (!name.startsWith(".")) return undefined;
    const file = join(from, "..", name);
    return file.startsWith(root) ? { resolvedFileName: file, extension: ts.Extension.Ts } : undefined;
  };
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) => ({ resolvedModule: resolve(text, from) }));
  return host;
}

function describe(exported: ts.Symbol, checker: ts.TypeChecker, root: string): { title: string; body: string } {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const declarations = (symbol.declarations ?? []).map(statementOf);
  const [first] = declarations;
  if (first === undefined) throw new Error(`${exported.name} has no declaration`);
  const file = relative(root, first.getSourceFile().fileName);
  const comments = [...new Set(declarations.map(commentOf).filter((text) => text !== ""))];
  const isGenerated = file === "src/client/schema.ts";
  const texts = isGenerated ? [] : declarations.filter(isShown).map(declarationText);
  const code = texts.length === 0 ? "" : fence("ts", texts.join("\n"));
  const types = isGenerated ? "Types of the [HTTP routes](http.md), generated from the OpenAPI document." : "";
  const body = [`## ${exported.name}`, ...comments, code, types, `Defined in [\`${file}\`](../../${file}).`];
  return { title: exported.name, body: body.filter((part) => part !== "").join("\n\n") };
}

/** Omits the implementation of an overloaded function. */
function isShown(node: ts.Node, _: number, all: readonly ts.Node[]): boolean {
  return !(
    ts.isFunctionDeclaration(node) &&
    node.body !== undefined &&
    all.filter(ts.isFunctionDeclaration).length > 1
  );
}

function statementOf(node: ts.Declaration): ts.Node {
  return ts.isVariableDeclaration(node) ? node.parent.parent : node;
}

function commentOf(node: ts.Node): string {
  const blocks = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  return blocks.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? "").join("\n\n");
}

const MAX_VALUE_CHARACTERS = 200;

function declarationText(node: ts.Node): string {
  if (ts.isSourceFile(node)) return "";
  if (ts.isClassDeclaration(node)) return classText(node);
  if (ts.isFunctionDeclaration(node)) return functionText(node);
  if (ts.isVariableStatement(node)) return node.declarationList.declarations.map(variableText).join("\n");
  return sourceText(node);
}

function functionText(node: ts.FunctionDeclaration): string {
  const text = sourceText(node);
  if (node.body === undefined) return text;
  return `${text.slice(0, text.length - node.body.getText().length).trimEnd()};`;
}

/** Shows a value if it is short. Shows only the name of a schema or a table. */
function variableText(node: ts.VariableDeclaration): string {
  const name = node.name.getText();
  if (node.type !== undefined) return `export const ${name}: ${node.type.getText()};`;
  const value = node.initializer?.getText() ?? "";
  return value.length > MAX_VALUE_CHARACTERS ? `export const ${name};` : `export const ${name} = ${value};`;
}

function classText(node: ts.ClassDeclaration): string {
  const source = node.getSourceFile();
  const head = source.text
    .slice(node.getStart(source), node.members.pos)
    .replace(/\{?\s*$/, "")
    .trimEnd();
  const members = node.members.filter(isPublic).map((member) => {
    const comment = source.text.slice(member.getFullStart(), member.getStart(source)).trim();
    const lines = comment.startsWith("/**") ? [comment] : [];
    return indent([...lines, memberText(member)].join("\n"));
  });
  return `${head} {\n${members.join("\n")}\n}`;
}

function memberText(member: ts.ClassElement): string {
  const text = member.getText();
  const body = (member as ts.MethodDeclaration).body;
  if (body !== undefined) return `${text.slice(0, text.length - body.getText().length).trimEnd()};`;
  const initializer = ts.isPropertyDeclaration(member) ? member.initializer : undefined;
  if (initializer === undefined) return text;
  return `${text.slice(0, text.lastIndexOf(initializer.getText())).replace(/\s*=\s*$/, "")};`;
}

function isPublic(member: ts.ClassElement): boolean {
  if (member.name !== undefined && ts.isPrivateIdentifier(member.name)) return false;
  if (ts.isClassStaticBlockDeclaration(member)) return false;
  if (ts.getJSDocTags(member).some(({ tagName }) => tagName.text === "internal")) return false;
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return (ts.getCombinedModifierFlags(member) & hidden) === 0;
}

function sourceText(node: ts.Node): string {
  return node.getText();
}

function indent(text: string): string {
  const lines = text.split("\n");
  return lines.map((line, at) => (at === 0 ? `  ${line}` : line.startsWith("  ") ? line : `  ${line}`)).join("\n");
}
